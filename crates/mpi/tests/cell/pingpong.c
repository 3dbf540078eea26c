/* Two ranks send a message to and fro, as mpptest does; the half of a round trip is the latency. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 17 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static const int sizes[] = {0, 8, 100, 1024, 2048, 2049, 16384, MOST};
    unsigned char *data = malloc(MOST);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int bytes = sizes[s];
        memset(data, rank == 0 ? 1 + (int)s : 0, MOST);
        enum { ROUNDS = 4 };
        double start = 0;
        for (int round = -1; round < ROUNDS; round++) {
            if (round == 0) start = MPI_Wtime();
            if (rank == 0) {
                MPI_Send(data, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
                MPI_Recv(data, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (rank == 1) {
                MPI_Recv(data, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(data, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
            }
        }
        double each = (MPI_Wtime() - start) / ROUNDS / 2;
        for (int i = 0; i < bytes; i++) {
            if (data[i] != 1 + s) {
                fprintf(stderr, "rank %d: byte %d of %d is %d\n", rank, i, bytes, data[i]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        if (rank == 0) printf("%d bytes: %.4f us\n", bytes, each * 1e6);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
