/* y = A x in double precision: every rank has a block of rows, and MPI_Allgather makes y whole on all of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT = 40 };

static void multiply(const double *rows, int count, int n, const double *x, double *y)
{
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += rows[(size_t)i * n + j] * x[j];
        y[i] = sum;
    }
}

static double element(int i, int j) { return (i * 7 + j * 3) % 11 - 5; }

static void try(int n, int rank, int size)
{
    int block = (n + size - 1) / size, first = rank * block; /* the last rank's block may be short of rows */
    int count = first + block <= n ? block : first < n ? n - first : 0;
    double *rows = malloc(sizeof(double) * block * n), *mine = calloc(block, sizeof(double));
    double *x = malloc(sizeof(double) * n), *y = malloc(sizeof(double) * block * size);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < n; j++) rows[(size_t)i * n + j] = element(first + i, j);
    for (int j = 0; j < n; j++) x[j] = j % 5 - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int k = 0; k < REPEAT; k++) {
        multiply(rows, count, n, x, mine);
        MPI_Allgather(mine, block, MPI_DOUBLE, y, block, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    double parallel = MPI_Wtime() - start;
    if (rank == 0) { /* alone, while the others wait */
        double *whole = malloc(sizeof(double) * n * n), *alone = malloc(sizeof(double) * n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) whole[(size_t)i * n + j] = element(i, j);
        start = MPI_Wtime();
        for (int k = 0; k < REPEAT; k++) multiply(whole, n, n, x, alone);
        double serial = MPI_Wtime() - start, flops = 2.0 * n * n * REPEAT * 1e-9;
        const char *verdict = memcmp(alone, y, sizeof(double) * n) ? "DIFFERENT" : "the same";
        printf("n = %4d on %d ranks: %s result, y[%d] = %g\n", n, size, verdict, n - 1, y[n - 1]);
        printf("  serial %.2f GFlop/s, parallel %.2f GFlop/s\n", flops / serial, flops / parallel);
        free(whole);
        free(alone);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(rows);
    free(mine);
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    try(512, rank, size);
    try(1024, rank, size);
    MPI_Finalize();
    return 0;
}
