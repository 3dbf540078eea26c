/* Messages per second and bytes per second from rank 0 to rank 1: windows of 64 MPI_Isend / MPI_Irecv and MPI_Waitall,
 * then a word back.

       bandwidth BYTES... */
#include "../mpi/look.h"
#include <mpi.h>

enum { WINDOW = 64 };

int main(int argc, char **argv) {
    int rank;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    pin(rank);
    look_open(rank, 2);
    MPI_Request requests[WINDOW];
    for (int s = 1; s < argc; s++) {
        size_t bytes = strtoul(argv[s], NULL, 10);
        unsigned char *buffer = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096), word = 0;
        memset(buffer, rank ? 0 : 7, bytes + 1);
        double began = now_us();
        int windows = 4;
        Blocks blocks;
        blocks_begin(&blocks);
        for (int b = -2; b < BLOCKS; b++) {
            double start = now_us();
            for (int w = 0; w < windows; w++) {
                for (int i = 0; i < WINDOW; i++)
                    if (rank == 0) MPI_Isend(buffer, (int)bytes, MPI_BYTE, 1, 1, comm, &requests[i]);
                    else MPI_Irecv(buffer, (int)bytes, MPI_BYTE, 0, 1, comm, &requests[i]);
                MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
                if (rank == 0) MPI_Recv(&word, 1, MPI_BYTE, 1, 2, comm, MPI_STATUS_IGNORE);
                else MPI_Send(&word, 1, MPI_BYTE, 0, 2, comm);
            }
            double once = (now_us() - start) / ((double)windows * WINDOW);
            if (b == -2) windows = repeats(once * WINDOW, 2000);
            if (b >= 0) blocks_add(&blocks, once);
            int plan[2] = {windows, now_us() - began < 1e6};
            if (rank == 0) MPI_Send(plan, 2, MPI_INT, 1, 3, comm);
            else MPI_Recv(plan, 2, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
            windows = plan[0];
            if (!plan[1] && blocks.n >= 3) break;
        }
        if (rank == 1 && bytes && buffer[bytes - 1] != 7) {
            fprintf(stderr, "what arrived is not what was sent\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (rank == 0) {
            printf("{\"size\": %zu, ", bytes);
            blocks_print(&blocks);
        }
        free(buffer);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
