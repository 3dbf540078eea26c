/* Jobs that do not end well, by the first argument. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, value = 0;
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "deadlock") == 0) MPI_Recv(&value, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "exit") == 0 && rank == 1) exit(4);
    if (strcmp(how, "crash") == 0 && rank == 1) abort();
    if (strcmp(how, "endless") == 0 && rank == 1)
        for (volatile int i = 0;; i++) continue;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
