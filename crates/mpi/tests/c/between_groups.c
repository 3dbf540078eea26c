/* More of intercommunicators: uneven sides, leaders in the middle, wildcards and probes, create, idup, every
 * non-blocking collective. */
#include "check.h"

static MPI_Comm local, inter;
static int me, mine, theirs, side;

/* The first rank alone on one side, all others in reverse on the other. */
static int world_of(int s, int r) { return s == 0 ? 0 : size - 1 - r; }

static void wildcards(void)
{
    MPI_Status status;
    int got, flag = 0;
    if (side == 0) {
        for (int r = 0; r < theirs; r++) MPI_Send(&r, 1, MPI_INT, r, r, inter);
        int *seen = calloc(theirs, sizeof(int));
        for (int k = 0; k < theirs; k++) {
            MPI_Message message;
            if (k % 2) {
                MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
            } else {
                MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &message, &status);
                MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
            }
            EQUAL(got, status.MPI_SOURCE + 100);
            EQUAL(status.MPI_TAG, status.MPI_SOURCE);
            seen[status.MPI_SOURCE]++;
        }
        for (int r = 0; r < theirs; r++) EQUAL(seen[r], 1);
        free(seen);
    } else {
        while (!flag) MPI_Iprobe(0, MPI_ANY_TAG, inter, &flag, &status);
        EQUAL(status.MPI_TAG, me);
        MPI_Recv(&got, 1, MPI_INT, 0, me, inter, MPI_STATUS_IGNORE);
        EQUAL(got, me);
        got = me + 100;
        MPI_Ssend(&got, 1, MPI_INT, 0, me, inter);
    }
}

static void copies(void)
{
    MPI_Comm a, b;
    MPI_Request request;
    int n, result;
    MPI_Comm_idup(inter, &a, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_remote_size(a, &n);
    EQUAL(n, theirs);
    MPI_Comm_compare(a, inter, &result);
    EQUAL(result, MPI_CONGRUENT);
    MPI_Barrier(a);
    MPI_Comm_compare(a, MPI_COMM_WORLD, &result);
    EQUAL(result, MPI_UNEQUAL);
    MPI_Comm_free(&a);
    /* create: the first of each side */
    MPI_Group group, first;
    int zero = 0;
    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, 1, &zero, &first);
    MPI_Comm_create(inter, first, &b);
    if (me == 0) {
        int value = rank, got = -1;
        MPI_Comm_remote_size(b, &n);
        EQUAL(n, 1);
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 2, &got, 1, MPI_INT, 0, 2, b, MPI_STATUS_IGNORE);
        EQUAL(got, world_of(!side, 0));
        MPI_Comm_free(&b);
    } else {
        CHECK(b == MPI_COMM_NULL);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&first);
}

enum { N = 64 };

static void non_blocking(void)
{
    int here = side == 0 ? MPI_ROOT : 0; /* rank 0 of the world is the root */
    int word[N], *all = malloc(N * size * sizeof(int)), *out = malloc(N * size * sizeof(int)), sum[N], own[N], part[N];
    int *pieces = malloc(N * size * sizeof(int)), *gathered = malloc(N * size * sizeof(int)),
        *whole = malloc(N * size * sizeof(int));
    MPI_Request r[8];
    for (int i = 0; i < N; i++) word[i] = side == 0 ? 5 + i : -1, own[i] = rank * 10 + i, sum[i] = part[i] = -1;
    for (int i = 0; i < N * size; i++) out[i] = rank * 1000 + i, pieces[i] = i, gathered[i] = all[i] = whole[i] = -1;
    MPI_Ibcast(word, N, MPI_INT, here, inter, &r[0]);
    MPI_Igather(own, N, MPI_INT, gathered, N, MPI_INT, here, inter, &r[1]);
    MPI_Iscatter(pieces, N, MPI_INT, part, N, MPI_INT, here, inter, &r[2]);
    MPI_Iallgather(own, N, MPI_INT, whole, N, MPI_INT, inter, &r[3]);
    MPI_Ialltoall(out, N, MPI_INT, all, N, MPI_INT, inter, &r[4]);
    MPI_Ireduce(own, sum, N, MPI_INT, MPI_SUM, here, inter, &r[5]);
    MPI_Ibarrier(inter, &r[6]);
    int least[N];
    MPI_Iallreduce(own, least, N, MPI_INT, MPI_MIN, inter, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    int wanted = 0, smallest = 1 << 30;
    for (int k = 0; k < theirs; k++) {
        int w = world_of(!side, k) * 10;
        wanted += w;
        if (w < smallest) smallest = w;
    }
    for (int i = 0; i < N; i++) {
        EQUAL(word[i], 5 + i);
        EQUAL(least[i], smallest + i);
        if (side == 0) EQUAL(sum[i], wanted + theirs * i);
        else EQUAL(part[i], me * N + i);
        for (int k = 0; k < theirs; k++) {
            EQUAL(whole[k * N + i], world_of(!side, k) * 10 + i);
            EQUAL(all[k * N + i], world_of(!side, k) * 1000 + me * N + i);
            if (side == 0) EQUAL(gathered[k * N + i], world_of(1, k) * 10 + i);
        }
    }
    free(all);
    free(out);
    free(pieces);
    free(gathered);
    free(whole);
}

/* Who does not receive in a gather, or send in a scatter, has its buffer for that left alone. */
static void left_alone(void)
{
    int here = side == 0 ? MPI_ROOT : 0, own = rank + 50, *buffer = malloc(size * sizeof(int));
    for (int i = 0; i < size; i++) buffer[i] = -1;
    MPI_Gather(&own, 1, MPI_INT, buffer, 1, MPI_INT, here, inter);
    for (int i = 0; i < size; i++) EQUAL(buffer[i], side == 0 && i < theirs ? world_of(1, i) + 50 : -1);
    for (int i = 0; i < size; i++) buffer[i] = side == 0 ? i + 70 : -1;
    MPI_Scatter(buffer, 1, MPI_INT, &own, 1, MPI_INT, here, inter);
    EQUAL(own, side == 0 ? 50 : me + 70);
    for (int i = 0; i < size; i++) EQUAL(buffer[i], side == 0 ? i + 70 : -1);
    MPI_Allgather(&rank, 1, MPI_INT, buffer, 1, MPI_INT, inter);
    for (int i = theirs; i < size; i++) EQUAL(buffer[i], side == 0 ? i + 70 : -1);
    free(buffer);
}

static void merged_alike(void)
{
    /* both say the same: some order, but a whole one, with each side together */
    for (int high = 0; high < 2; high++) {
        MPI_Comm both;
        int r, n, *ranks = malloc(size * sizeof(int));
        MPI_Intercomm_merge(inter, high, &both);
        MPI_Comm_rank(both, &r);
        MPI_Comm_size(both, &n);
        EQUAL(n, size);
        MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, both);
        CHECK(ranks[0] == 0 || ranks[size - 1] == 0);
        EQUAL(ranks[r], rank);
        MPI_Comm_free(&both);
        free(ranks);
    }
}

int main(void)
{
    start();
    if (size > 1) {
        side = rank > 0;
        MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &local);
        MPI_Comm_rank(local, &me);
        MPI_Comm_size(local, &mine);
        theirs = size - mine;
        int leader = side ? (size - 1) / 2 : 0; /* in the middle of the large side */
        MPI_Intercomm_create(local, leader, MPI_COMM_WORLD, side ? 0 : world_of(1, (size - 1) / 2), 33, &inter);
        MPI_Comm_free(&local);
        wildcards();
        copies();
        non_blocking();
        left_alone();
        merged_alike();
        MPI_Comm_free(&inter);
    }
    return finish("between_groups");
}
