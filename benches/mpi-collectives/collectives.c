/* The time of collectives on a communicator that was made by MPI_Comm_dup: the slowest rank's mean over a block, median
 * over blocks.

       collectives SECONDS NAME:BYTES...

   NAME: barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, ring (a token once around),
   allreduce-in-place (the most).
   BYTES: per rank, of doubles.
   SECONDS: how long to measure each at most. */
#include "../mpi/look.h"
#include <mpi.h>

static MPI_Comm comm;
static int rank, size;

static void once(const char *name, double *in, double *out, int n) {
    if (!strcmp(name, "barrier")) MPI_Barrier(comm);
    else if (!strcmp(name, "bcast")) MPI_Bcast(in, n, MPI_DOUBLE, 0, comm);
    else if (!strcmp(name, "reduce")) MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, comm);
    else if (!strcmp(name, "allreduce")) MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
    else if (!strcmp(name, "allreduce-in-place")) MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE, MPI_MAX, comm);
    else if (!strcmp(name, "gather")) MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, comm);
    else if (!strcmp(name, "scatter")) MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, comm);
    else if (!strcmp(name, "allgather")) MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
    else if (!strcmp(name, "alltoall")) MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
    else if (!strcmp(name, "ring")) {
        if (rank == 0) MPI_Send(in, n, MPI_DOUBLE, 1 % size, 1, comm);
        MPI_Recv(in, n, MPI_DOUBLE, (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
        if (rank != 0) MPI_Send(in, n, MPI_DOUBLE, (rank + 1) % size, 1, comm);
    } else {
        fprintf(stderr, "no collective is called %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static void check(const char *name, const double *out, int n) {
    double expected = size * (size + 1) / 2.0;
    if (!strcmp(name, "allreduce") && n && (out[0] != expected || out[n - 1] != expected)) {
        fprintf(stderr, "allreduce: %g instead of %g\n", out[n - 1], expected);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (argc < 3) {
        fprintf(stderr, "use: collectives SECONDS NAME:BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    pin(rank);
    look_open(rank, size);
    double seconds = atof(argv[1]);
    for (int a = 2; a < argc; a++) {
        char name[32];
        size_t bytes = 0;
        sscanf(argv[a], "%31[^:]:%zu", name, &bytes);
        int n = (int)(bytes / sizeof(double));
        double *in = malloc((bytes + 8) * size), *out = malloc((bytes + 8) * size);
        for (int i = 0; i < n * size; i++) in[i] = rank + 1;
        double began = now_us();
        int times = 2;
        Blocks blocks;
        blocks_begin(&blocks);
        for (int b = -2; b < BLOCKS; b++) {
            MPI_Barrier(comm);
            double start = now_us();
            for (int i = 0; i < times; i++) once(name, in, out, n);
            double mine = (now_us() - start) / times, slowest;
            MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
            if (b >= 0) blocks_add(&blocks, slowest);
            /* The first ones may be slow, and a block of few says more of its start than of the rest. */
            int more = repeats(slowest, 2000);
            if (b < 0 || more > times) times = more;
            int plan[2] = {times, now_us() - began < seconds * 1e6};
            MPI_Bcast(plan, 2, MPI_INT, 0, comm);
            times = plan[0];
            if (!plan[1] && blocks.n >= 3) break;
        }
        check(name, out, n);
        if (rank == 0) {
            printf("{\"name\": \"%s\", \"size\": %zu, \"ranks\": %d, ", name, bytes, size);
            blocks_print(&blocks);
        }
        free(in);
        free(out);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
