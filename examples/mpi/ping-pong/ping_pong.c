/* Ranks 0 and 1 send a message to and fro; each sends back the buffer that it has just received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "ping_pong needs two ranks: cellrun -n 2 ./ping_pong\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) printf("ranks 0 and 1 of %d\n", size);
    if (rank < 2) {
        char *buffer = calloc(MOST, 1);
        for (int bytes = 8; bytes <= MOST; bytes *= 32) {
            int rounds = bytes < 65536 ? 1000 : 100;
            double start = MPI_Wtime();
            for (int i = 0; i < rounds; i++) {
                if (rank == 0) {
                    buffer[bytes - 1] = (char)i;
                    MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
                    MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    if (buffer[bytes - 1] != (char)(i + 1)) MPI_Abort(MPI_COMM_WORLD, 2);
                } else {
                    MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    buffer[bytes - 1]++;
                    MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
                }
            }
            double seconds = MPI_Wtime() - start;
            if (rank == 0)
                printf("%7d bytes, %4d rounds: %.2f us one way\n", bytes, rounds, seconds / rounds / 2 * 1e6);
        }
        free(buffer);
    }
    MPI_Finalize();
    return 0;
}
