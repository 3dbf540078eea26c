/* A matrix times a vector, double precision: each rank has rows, MPI_Allgather puts the result together. Prints
   Gflops. */
#include <cell.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 512;
    enum { ROUNDS = 10 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n % size != 0) MPI_Abort(MPI_COMM_WORLD, 2);
    int rows = n / size;
    double *a = malloc(sizeof(double) * rows * n), *x = malloc(sizeof(double) * n), *y = malloc(sizeof(double) * rows);
    for (int i = 0; i < rows * n; i++) a[i] = 1.0 / n;
    for (int i = 0; i < n; i++) x[i] = 1.0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
            y[i] = sum;
        }
        cell_compute(2.0 * rows * n, sizeof(double) * (rows * (double)n + n + rows));
        MPI_Allgather(y, rows, MPI_DOUBLE, x, rows, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = (MPI_Wtime() - start) / ROUNDS;
    for (int i = 0; i < n; i++)
        if (fabs(x[i] - 1.0) > 1e-9) MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0) printf("%.6f\n", 2.0 * n * n / seconds / 1e9);
    MPI_Finalize();
    return 0;
}
