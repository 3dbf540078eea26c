/* Random collectives, several at the same time, checked against their definitions.
 *
 *     random_collectives [--seed N] [--operations N]
 *
 * In a round every rank calls the same random collectives in the same order: blocking, non-blocking or persistent, on
 * one of three communicators, with any root, length, datatype and operation, in place or not. What is not blocking is
 * completed at the round's end in an order of the rank's own choice, while messages with wildcards go about. */
#include <stdint.h>
#include "../c/check.h"

enum { COMMS = 3, MOST = 7 };
enum Kind { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, GATHERV, SCATTERV, ALLGATHERV, ALLTOALLV, REDUCE,
            ALLREDUCE, SCAN, EXSCAN, SCATTER_BLOCK, REDUCE_SCATTER, KINDS };
enum Mode { BLOCKING, NON_BLOCKING, PERSISTENT, MODES };

typedef struct {
    enum Kind kind;
    enum Mode mode;
    int number, comm, root, count, in_place, operation, strided;
    int me, n, *out, *in, *counts, *places, *turned, *turned_places;
    MPI_Request request;
} Collective;

static uint64_t seed = 1;
static long wanted = 3000;
static MPI_Comm comms[COMMS];
static MPI_Op operations[4]; /* sum, max, the first, the last */
static MPI_Datatype strided; /* an int in the room of two */

static int draw(uint64_t *state, int below)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) >> 16 & 0x7fffffff) % below;
}

static void first(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int step = *type == strided ? 2 : 1;
    for (int i = 0; i < *length; i++) ((int *)inout)[i * step] = ((int *)in)[i * step];
}

static void last(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)in, (void)inout, (void)length, (void)type;
}

static int value(const Collective *c, int r, int i) { return (c->number * 31 + r * 1709 + i * 3) & 0xfffff; }

/* The operation on ranks 0 to `to`. */
static int reduced(const Collective *c, int to, int i)
{
    int result = value(c, 0, i);
    if (c->operation == 3) return value(c, to, i);
    for (int r = 1; r <= to && c->operation < 2; r++) {
        int x = value(c, r, i);
        result = c->operation == 0 ? result + x : result > x ? result : x;
    }
    return result;
}

/* Elements of rank r in those with lengths, and of the pair r to s. */
static int length_of(const Collective *c, int r) {
    return c->count ? (c->count + r * 7 + c->number) % (c->count + 1) : 0;
}
static int pair_length(const Collective *c, int r, int s) {
    return c->count ? (c->count + r * 5 + s * 3) % (c->count + 1) : 0;
}

static void make(Collective *c, uint64_t *s, int number)
{
    memset(c, 0, sizeof *c);
    c->number = number;
    c->kind = draw(s, KINDS);
    c->mode = draw(s, MODES);
    c->comm = draw(s, COMMS);
    int shape = draw(s, 20);
    c->count = shape < 12 ? draw(s, 40) : shape < 19 ? draw(s, 3000) : draw(s, 60000);
    c->in_place = draw(s, 3) == 0 && c->kind != BCAST && c->kind != BARRIER;
    c->operation = draw(s, 4);
    c->strided = draw(s, 4) == 0;
    int chance = draw(s, 1 << 20);
    MPI_Comm_rank(comms[c->comm], &c->me);
    MPI_Comm_size(comms[c->comm], &c->n);
    c->root = chance % c->n;
    if (c->kind >= REDUCE && c->operation < 2) c->strided = 0; /* predefined operations are on predefined types */
    c->request = MPI_REQUEST_NULL;
}

/* Element i of a buffer, wherever it lies. */
static int *at(const Collective *c, int *buffer, long i) { return buffer + (c->strided ? 2 * i : i); }

static void prepare(Collective *c)
{
    long n = c->n, room = (c->count + 1) * n * (c->strided ? 2 : 1) + 2;
    c->out = malloc(room * sizeof(int));
    c->in = malloc(room * sizeof(int));
    c->counts = malloc(4 * n * sizeof(int));
    c->places = c->counts + n;
    c->turned = c->places + n;
    c->turned_places = c->turned + n;
    for (long i = 0; i < room; i++) c->out[i] = c->in[i] = -7;
    for (int r = 0; r < n; r++) {
        c->counts[r] = c->kind == ALLTOALLV ? pair_length(c, c->me, r) : length_of(c, r);
        c->turned[r] = pair_length(c, r, c->me);
        c->places[r] = r ? c->places[r - 1] + c->counts[r - 1] : 0;
        c->turned_places[r] = r ? c->turned_places[r - 1] + c->turned[r - 1] : 0;
    }
    long given = c->kind == GATHERV || c->kind == ALLGATHERV ? c->counts[c->me]
                 : c->kind == SCATTERV || c->kind == ALLTOALLV || c->kind == REDUCE_SCATTER
                     ? c->places[n - 1] + c->counts[n - 1]
                 : c->kind == SCATTER || c->kind == ALLTOALL || c->kind == SCATTER_BLOCK ? c->count * n : c->count;
    for (long i = 0; i < given; i++) *at(c, c->out, i) = value(c, c->me, (int)i);
    if (c->kind == ALLTOALLV && c->in_place) c->in_place = 0; /* lengths differ by direction */
    if (!c->in_place) return;
    /* what is given lies where the result will be */
    switch (c->kind) {
    case GATHER: case ALLGATHER:
        for (long i = 0; i < given; i++) *at(c, c->in, c->me * (long)c->count + i) = *at(c, c->out, i);
        break;
    case GATHERV: case ALLGATHERV:
        for (long i = 0; i < given; i++) *at(c, c->in, c->places[c->me] + i) = *at(c, c->out, i);
        break;
    case SCATTER: case SCATTERV: break;
    default:
        for (long i = 0; i < given; i++) *at(c, c->in, i) = *at(c, c->out, i);
    }
}

static void call(Collective *c)
{
    MPI_Comm comm = comms[c->comm];
    MPI_Datatype t = c->strided ? strided : MPI_INT;
    MPI_Op op = operations[c->operation];
    int n = c->count, root = c->root, at_root = c->me == root, m = c->counts[c->me];
    void *all = MPI_IN_PLACE; /* where every rank is in place */
    const void *out = c->in_place ? all : c->out, *root_out = c->in_place && at_root ? all : c->out;
    void *in = c->in, *root_in = c->in_place && at_root ? all : c->in;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Request *r = &c->request;
#define EACH(blocking, non_blocking, persistent)                                                                       \
    if (c->mode == BLOCKING) blocking;                                                                                 \
    else if (c->mode == NON_BLOCKING) non_blocking;                                                                    \
    else persistent;                                                                                                   \
    break
#define ALL(name, lower, ...)                                                                                          \
    EACH(MPI_##name(__VA_ARGS__, comm), MPI_I##lower(__VA_ARGS__, comm, r),                                            \
         MPI_##name##_init(__VA_ARGS__, comm, none, r))
    switch (c->kind) {
    case BARRIER: EACH(MPI_Barrier(comm), MPI_Ibarrier(comm, r), MPI_Barrier_init(comm, none, r));
    case BCAST: ALL(Bcast, bcast, c->out, n, t, root);
    case GATHER: ALL(Gather, gather, root_out, n, t, in, n, t, root);
    case GATHERV: ALL(Gatherv, gatherv, root_out, m, t, in, c->counts, c->places, t, root);
    case SCATTER: ALL(Scatter, scatter, c->out, n, t, root_in, n, t, root);
    case SCATTERV: ALL(Scatterv, scatterv, c->out, c->counts, c->places, t, root_in, m, t, root);
    case ALLGATHER: ALL(Allgather, allgather, out, n, t, in, n, t);
    case ALLGATHERV: ALL(Allgatherv, allgatherv, out, m, t, in, c->counts, c->places, t);
    case ALLTOALL: ALL(Alltoall, alltoall, out, n, t, in, n, t);
    case ALLTOALLV: ALL(Alltoallv, alltoallv, c->out, c->counts, c->places, t, in, c->turned, c->turned_places, t);
    case REDUCE: ALL(Reduce, reduce, root_out, in, n, t, op, root);
    case ALLREDUCE: ALL(Allreduce, allreduce, out, in, n, t, op);
    case SCAN: ALL(Scan, scan, out, in, n, t, op);
    case EXSCAN: ALL(Exscan, exscan, out, in, n, t, op);
    case SCATTER_BLOCK: ALL(Reduce_scatter_block, reduce_scatter_block, out, in, n, t, op);
    case REDUCE_SCATTER: ALL(Reduce_scatter, reduce_scatter, out, in, c->counts, t, op);
    case KINDS: break;
    }
    if (c->mode == PERSISTENT) MPI_Start(r);
}

static void expect(const Collective *c, int *buffer, long i, int right)
{
    int got = *at(c, buffer, i);
    if (got == right) return;
    fprintf(stderr, "random_collectives: seed %llu, number %d, rank %d of %d: ",
            (unsigned long long)seed, c->number, c->me, c->n);
    fprintf(stderr, "kind %d, mode %d, communicator %d, root %d, count %d, ",
            c->kind, c->mode, c->comm, c->root, c->count);
    fprintf(stderr, "in place %d, operation %d, strided %d: ", c->in_place, c->operation, c->strided);
    fprintf(stderr, "element %ld is %d, not %d\n", i, got, right);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void verify(Collective *c)
{
    int n = c->count, at_root = c->me == c->root;
    long before = 0;
    for (int r = 0; r < c->n; r++) {
        long place = (long)r * n;
        int m = length_of(c, r);
        if ((c->kind == GATHER && at_root) || c->kind == ALLGATHER)
            for (int i = 0; i < n; i++) expect(c, c->in, place + i, value(c, r, i));
        if ((c->kind == GATHERV && at_root) || c->kind == ALLGATHERV)
            for (int i = 0; i < m; i++) expect(c, c->in, c->places[r] + i, value(c, r, i));
        if (c->kind == ALLTOALL)
            for (int i = 0; i < n; i++) expect(c, c->in, place + i, value(c, r, c->me * n + i));
        if (c->kind == ALLTOALLV) {
            int skipped = 0;
            for (int s = 0; s < c->me; s++) skipped += pair_length(c, r, s);
            for (int i = 0; i < c->turned[r]; i++) expect(c, c->in, c->turned_places[r] + i, value(c, r, skipped + i));
        }
        if (r < c->me) before += m;
    }
    for (int i = 0; i < n; i++) {
        if (c->kind == BCAST) expect(c, c->out, i, value(c, c->root, i));
        if (c->kind == SCATTER && !(c->in_place && at_root)) expect(c, c->in, i, value(c, c->root, c->me * n + i));
        if ((c->kind == REDUCE && at_root) || c->kind == ALLREDUCE) expect(c, c->in, i, reduced(c, c->n - 1, i));
        if (c->kind == SCAN) expect(c, c->in, i, reduced(c, c->me, i));
        if (c->kind == EXSCAN && c->me > 0) expect(c, c->in, i, reduced(c, c->me - 1, i));
        if (c->kind == SCATTER_BLOCK) expect(c, c->in, i, reduced(c, c->n - 1, c->me * n + i));
    }
    for (int i = 0; i < length_of(c, c->me); i++) {
        if (c->kind == SCATTERV && !(c->in_place && at_root)) expect(c, c->in, i, value(c, c->root, (int)before + i));
        if (c->kind == REDUCE_SCATTER) expect(c, c->in, i, reduced(c, c->n - 1, (int)before + i));
    }
    if (c->strided) /* the room between is as it was */
        for (long i = 0; i < n; i++)
            if (c->in[2 * i + 1] != -7 || c->out[2 * i + 1] != -7) expect(c, c->in, i, -7);
    if (c->mode == PERSISTENT) MPI_Request_free(&c->request);
    free(c->out);
    free(c->in);
    free(c->counts);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--operations")) wanted = atol(argv[i + 1]);
    }
    start();
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &strided);
    MPI_Type_commit(&strided);
    operations[0] = MPI_SUM;
    operations[1] = MPI_MAX;
    MPI_Op_create(first, 0, &operations[2]);
    MPI_Op_create(last, 0, &operations[3]);
    uint64_t common = seed * 1000003u, own = seed * 77u + (uint64_t)rank;
    long done = 0;
    while (done < wanted) {
        Collective group[MOST];
        int count = 1 + draw(&common, MOST), left = 0, word = (int)done, got = -1;
        MPI_Request message[2];
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[0], &message[0]);
        MPI_Issend(&word, 1, MPI_INT, (rank + 1) % size, 9, comms[0], &message[1]);
        for (int k = 0; k < count; k++) {
            make(&group[k], &common, (int)done + k);
            prepare(&group[k]);
            call(&group[k]);
            left += group[k].mode != BLOCKING;
        }
        while (left > 0) { /* in any order; a test now and then */
            int k = draw(&own, count), flag = 0;
            if (group[k].mode == BLOCKING || group[k].me < 0) continue;
            if (draw(&own, 2)) MPI_Test(&group[k].request, &flag, MPI_STATUS_IGNORE);
            else MPI_Wait(&group[k].request, MPI_STATUS_IGNORE), flag = 1;
            if (!flag) continue;
            left--;
            group[k].me = -1 - group[k].me; /* completed */
        }
        MPI_Waitall(2, message, MPI_STATUSES_IGNORE);
        EQUAL(got, done);
        for (int k = 0; k < count; k++) {
            if (group[k].me < 0) group[k].me = -1 - group[k].me;
            verify(&group[k]);
        }
        done += count;
        MPI_Barrier(comms[0]);
    }
    for (int c = 0; c < COMMS; c++) MPI_Comm_free(&comms[c]);
    MPI_Op_free(&operations[2]);
    MPI_Op_free(&operations[3]);
    MPI_Type_free(&strided);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("ok random_collectives: %ld on %d ranks, seed %llu\n", done, size, (unsigned long long)seed);
    MPI_Finalize();
    return 0;
}
