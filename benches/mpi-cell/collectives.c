/* Barrier, broadcast and allreduce (sum of doubles), by size; checks what they give. Prints a name, bytes and us. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 };
static int rank, size;

static void barrier(double *data, double *result, int count) {
    (void)data, (void)result, (void)count;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(double *data, double *result, int count) {
    if (rank == 0) memcpy(result, data, sizeof(double) * count);
    MPI_Bcast(result, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void allreduce(double *data, double *result, int count) {
    MPI_Allreduce(data, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Rounds start together; the time is that of the rank which takes longest. */
static double timed(void (*collective)(double *, double *, int), double *data, double *result, int count) {
    double all = 0, longest;
    for (int round = -1; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        collective(data, result, count);
        if (round >= 0) all += MPI_Wtime() - start;
    }
    MPI_Allreduce(&all, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest / ROUNDS * 1e6;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double us = timed(barrier, NULL, NULL, 0);
    if (rank == 0) printf("barrier 0 %.6f\n", us);
    for (int i = 1; i < argc; i++) {
        int bytes = atoi(argv[i]), count = bytes / (int)sizeof(double);
        double *data = malloc(bytes), *result = malloc(bytes);
        for (int k = 0; k < count; k++) data[k] = rank + k;
        us = timed(bcast, data, result, count);
        if (rank == 0) printf("bcast %d %.6f\n", bytes, us);
        for (int k = 0; k < count; k++)
            if (result[k] != k) MPI_Abort(MPI_COMM_WORLD, 3);
        us = timed(allreduce, data, result, count);
        if (rank == 0) printf("allreduce %d %.6f\n", bytes, us);
        for (int k = 0; k < count; k++)
            if (result[k] != size * (size - 1) / 2 + (double)size * k) MPI_Abort(MPI_COMM_WORLD, 4);
        free(data), free(result);
    }
    MPI_Finalize();
    return 0;
}
