/* Messages per second and bytes per second between two ranks.

       bandwidth NAME:BYTES...

   NAME: stream, from rank 0 to rank 1: windows of 64 MPI_Isend / MPI_Irecv and MPI_Waitall, then a word back; exchange,
   as of the edges of parts of a grid: two MPI_Irecv, two MPI_Isend and MPI_Waitall on both ranks. */
#include "../mpi/look.h"
#include <mpi.h>

enum { WINDOW = 64, EDGES = 2 };

static MPI_Comm comm;
static int rank;

/* How many messages that were one way. */
static int stream(unsigned char *buffer, int bytes) {
    MPI_Request requests[WINDOW];
    unsigned char word = 0;
    for (int i = 0; i < WINDOW; i++)
        if (rank == 0) MPI_Isend(buffer, bytes, MPI_BYTE, 1, 1, comm, &requests[i]);
        else MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 1, comm, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(&word, 1, MPI_BYTE, 1, 2, comm, MPI_STATUS_IGNORE);
    else MPI_Send(&word, 1, MPI_BYTE, 0, 2, comm);
    return WINDOW;
}

/* The data of the edges first, and behind it room for those of the other rank. */
static int exchange(unsigned char *buffer, int bytes) {
    MPI_Request requests[2 * EDGES];
    for (int i = 0; i < EDGES; i++) {
        unsigned char *room = buffer + (size_t)(EDGES + i) * bytes;
        MPI_Irecv(room, bytes, MPI_BYTE, 1 - rank, i, comm, &requests[i]);
    }
    for (int i = 0; i < EDGES; i++) {
        unsigned char *edge = buffer + (size_t)i * bytes;
        MPI_Isend(edge, bytes, MPI_BYTE, 1 - rank, i, comm, &requests[EDGES + i]);
    }
    MPI_Waitall(2 * EDGES, requests, MPI_STATUSES_IGNORE);
    return 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    pin(rank);
    look_open(rank, 2);
    for (int s = 1; s < argc; s++) {
        char name[16] = "";
        size_t bytes = 0;
        sscanf(argv[s], "%15[^:]:%zu", name, &bytes);
        int both = !strcmp(name, "exchange");
        if (!both && strcmp(name, "stream")) {
            fprintf(stderr, "use: bandwidth stream:BYTES|exchange:BYTES...\n");
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        size_t all = both ? 2 * EDGES * bytes : bytes;
        unsigned char *buffer = aligned_alloc(4096, (all + 8191) / 4096 * 4096);
        memset(buffer, rank && !both ? 0 : 7 + rank, all + 1);
        double began = now_us();
        int windows = 4, messages = 1;
        Blocks blocks;
        blocks_begin(&blocks);
        for (int b = -2; b < BLOCKS; b++) {
            double start = now_us();
            for (int w = 0; w < windows; w++)
                messages = both ? exchange(buffer, (int)bytes) : stream(buffer, (int)bytes);
            double once = (now_us() - start) / ((double)windows * messages);
            if (b >= 0) blocks_add(&blocks, once);
            /* The first ones may be slow, and a block of few says more of its start than of the rest. */
            int more = repeats(once * messages, 2000);
            if (b < 0 || more > windows) windows = more;
            int plan[2] = {windows, now_us() - began < 1e6};
            if (rank == 0) MPI_Send(plan, 2, MPI_INT, 1, 3, comm);
            else MPI_Recv(plan, 2, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
            windows = plan[0];
            if (!plan[1] && blocks.n >= 3) break;
        }
        if (bytes && (both || rank == 1) && buffer[all - 1] != 7 + (both ? 1 - rank : 0)) {
            fprintf(stderr, "what arrived is not what was sent\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (rank == 0) {
            printf("{\"name\": \"%s\", \"size\": %zu, ", name, bytes);
            blocks_print(&blocks);
        }
        free(buffer);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
