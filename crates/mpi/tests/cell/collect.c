/* What all ranks get of bcast and allreduce, as a hash of its bits, and how long it takes; one rank comes late. Numbers
 * whose sum depends on the order. */
#include <cell.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void tell(const char *name, int bytes, const double *data, double start) {
    double us = (MPI_Wtime() - start) * 1e6, longest;
    uint64_t hash = 14695981039346656037u, all;
    for (int i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    MPI_Reduce(&us, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&hash, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %d %016llx %.6f\n", name, bytes, (unsigned long long)all, longest);
}

int main(int argc, char **argv) {
    static const int sizes[] = {8, 120, 1000, 3000, 16384, 100008};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int count = sizes[s] / 8, root = (int)s % size;
        double *data = malloc(sizes[s] + 8), *result = malloc(sizes[s] + 8);
        /* An odd place in a quadword for one size. */
        if (s == 3) data++, result++;
        for (int i = 0; i < count; i++) data[i] = 1.0 / (3 + 7 * rank + i);
        memcpy(result, data, sizes[s]);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Bcast(result, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
        tell("bcast", sizes[s], result, start);
        if (rank == 1) cell_compute(1000, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        MPI_Allreduce(data, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("allreduce", sizes[s], result, start);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    tell("barrier", 0, &start, start);
    MPI_Finalize();
    return 0;
}
