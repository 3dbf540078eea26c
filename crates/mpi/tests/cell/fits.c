/* Data of so many bytes: a message's, or declared; beside 50 kB of static data. */
#include <cell.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static char fixed[50000];

int main(int argc, char **argv) {
    int rank, bytes = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = calloc(bytes + 1, 1);
    if (strcmp(argv[1], "declared") == 0) cell_compute(1, bytes);
    if (strcmp(argv[1], "static") == 0) {
        if (rank == 0) MPI_Send(fixed, sizeof fixed, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(fixed, sizeof fixed, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(argv[1], "message") == 0) {
        if (rank == 0) MPI_Send(data, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
