/* One-way time of a message between ranks 0 and 1, on a communicator that was made by MPI_Comm_dup.

       latency VARIANT HOW BYTES...

   VARIANT: A sends and receives in buffers of their own that nobody rewrites; B sends what was just received.
   HOW: plain; any (MPI_ANY_SOURCE); vector (every second double); threads (MPI_THREAD_MULTIPLE); malloc (buffers start
   16 bytes into a page, where malloc puts large arrays, instead of with one); rewritten (each rank rewrites all that it
   sends before, which is part of the time).
   Further ranks wait in a receive. */
#include "../mpi/look.h"
#include <mpi.h>

static MPI_Comm comm;

static void rewrite(unsigned char *data, size_t bytes) {
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, data + at, sizeof word);
        word ^= 0x0303030303030303;
        memcpy(data + at, &word, sizeof word);
    }
}

static void measure(char variant, const char *how, size_t bytes, int rank) {
    int vector = !strcmp(how, "vector"), rewritten = !strcmp(how, "rewritten");
    int from = !strcmp(how, "any") ? MPI_ANY_SOURCE : 1 - rank, count = (int)bytes;
    MPI_Datatype type = MPI_BYTE;
    size_t room = vector ? 2 * bytes : bytes, into_page = !strcmp(how, "malloc") ? 16 : 0;
    if (vector) {
        if (bytes < sizeof(double)) return;
        MPI_Type_vector((int)(bytes / sizeof(double)), 1, 2, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        count = 1;
    }
    unsigned char *pages = aligned_alloc(4096, (room + 8191) / 4096 * 4096);
    unsigned char *others = variant == 'A' ? aligned_alloc(4096, (room + 8191) / 4096 * 4096) : pages;
    unsigned char *out = pages + into_page, *in = others + into_page;
    memset(in, 0, room + 1);
    memset(out, rank + 1, room + 1);
    double began = now_us();
    int rounds = 20;
    Blocks blocks;
    blocks_begin(&blocks);
    for (int b = -2; b < BLOCKS; b++) {
        double start = now_us();
        for (int i = 0; i < rounds; i++) {
            if (rewritten && rank == 0) rewrite(out, room);
            if (rank == 0) {
                MPI_Send(out, count, type, 1, 1, comm);
                MPI_Recv(in, count, type, from, 1, comm, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(in, count, type, from, 1, comm, MPI_STATUS_IGNORE);
                if (rewritten) rewrite(out, room);
                MPI_Send(out, count, type, 0, 1, comm);
            }
        }
        double once = (now_us() - start) / (2.0 * rounds);
        if (b >= 0) blocks_add(&blocks, once);
        /* The first ones may be slow, and a block of few says more of its start than of the rest. */
        int more = repeats(2 * once, 2000);
        if (b < 0 || more > rounds) rounds = more;
        int plan[2] = {rounds, now_us() - began < 1e6};
        if (rank == 0) MPI_Send(plan, 2, MPI_INT, 1, 2, comm);
        else MPI_Recv(plan, 2, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
        rounds = plan[0];
        if (!plan[1] && blocks.n >= 3) break;
    }
    unsigned char expected = variant == 'A' ? 2 - rank : 1;
    if (bytes && (in[0] != expected || in[room - (vector ? 9 : 1)] != expected)) {
        fprintf(stderr, "what arrived is not what was sent\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        printf("{\"size\": %zu, \"variant\": \"%c\", \"how\": \"%s\", ", bytes, variant, how);
        blocks_print(&blocks);
    }
    if (vector) MPI_Type_free(&type);
    if (others != pages) free(others);
    free(pages);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "use: latency A|B plain|any|vector|threads|malloc|rewritten BYTES...\n");
        return 2;
    }
    int rank, size, given;
    MPI_Init_thread(&argc, &argv, !strcmp(argv[2], "threads") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank < 2) {
        pin(rank);
        look_open(rank, 2);
        for (int i = 3; i < argc; i++) measure(argv[1][0], argv[2], strtoul(argv[i], NULL, 10), rank);
    }
    int over = 0;
    if (rank == 0)
        for (int other = 2; other < size; other++) MPI_Send(&over, 1, MPI_INT, other, 3, comm);
    else if (rank > 1)
        MPI_Recv(&over, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
