/* What a rank of an MPI program computes between its calls, for `cellrun --on`: a simulated Cell charges time for what
 * is declared here. On this computer, and with any other MPI, declaring does nothing. */
#ifndef CELLWEAVE_CELL_H
#define CELLWEAVE_CELL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of cellweave's MPI library; with another one it is null. */
extern void cellweave_compute(double flops, double bytes) __attribute__((weak));

/* `flops` operations of double precision on `bytes` bytes of main memory: the SPE gets them in pieces of 16 kB, the
 * next one while it computes with the last. */
static inline void cell_compute(double flops, double bytes)
{
    if (cellweave_compute) cellweave_compute(flops, bytes);
}

#ifdef __cplusplus
}
#endif
#endif
