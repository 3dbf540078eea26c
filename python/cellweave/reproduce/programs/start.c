/* How long ranks take to start: what each one's clock shows after MPI_Init. Prints the longest, in us. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    double begun = MPI_Wtime(), last;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&begun, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.6f\n", last * 1e6);
    MPI_Finalize();
    return 0;
}
