/* mpptest's ping-pong: half of a round trip, by size. Prints bytes and us. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        int bytes = atoi(argv[i]), rounds = bytes > 65536 ? 4 : 200;
        char *data = calloc(bytes ? bytes : 1, 1);
        double start = 0;
        for (int round = -2; round < rounds; round++) {
            if (round == 0) start = MPI_Wtime();
            if (rank == 0) {
                MPI_Send(data, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
                MPI_Recv(data, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(data, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(data, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
            }
        }
        if (rank == 0) printf("%d %.6f\n", bytes, (MPI_Wtime() - start) / rounds / 2 * 1e6);
        free(data);
    }
    MPI_Finalize();
    return 0;
}
