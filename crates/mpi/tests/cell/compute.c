/* Computing takes what it declares: operations, or the data that they touch. */
#include <cell.h>
#include <mpi.h>
#include <stdio.h>

static double took(double flops, double bytes) {
    double start = MPI_Wtime();
    cell_compute(flops, bytes);
    return (MPI_Wtime() - start) * 1e6;
}

int main(void) {
    MPI_Init(NULL, NULL);
    printf("%.3f %.3f %.3f\n", took(0, 0), took(1e6, 0), took(0, 1 << 20));
    MPI_Finalize();
    return 0;
}
