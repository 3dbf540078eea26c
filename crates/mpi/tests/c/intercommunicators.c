/* Intercommunicators: made, used by point-to-point and by every collective, duplicated, split, merged. */
#include "check.h"

enum { N = 300 };
static MPI_Comm local, inter;
static int me, mine, theirs, side; /* rank here, size here, size there, 0 or 1 */

/* Values name their world rank: of the other side's rank r. */
static int world_of(int s, int r) { return 2 * r + s; }
static int piece(int from, int to, int i) { return from * 1000 + to * 37 + i; }

static void point_to_point(void)
{
    int out[N], in[N], flag;
    MPI_Status status;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    for (int r = 0; r < theirs; r++) {
        MPI_Request request;
        for (int i = 0; i < N; i++) out[i] = piece(rank, world_of(!side, r), i);
        MPI_Isend(out, N, MPI_INT, r, 1, inter, &request);
        MPI_Recv(in, N, MPI_INT, r, MPI_ANY_TAG, inter, &status);
        EQUAL(status.MPI_SOURCE, r);
        for (int i = 0; i < N; i++) EQUAL(in[i], piece(world_of(!side, r), rank, i));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(inter);
}

static void rooted(int active) /* the side with the root */
{
    int roots = active == side ? mine : theirs;
    for (int root = 0; root < roots; root++) {
        int here = active == side ? (me == root ? MPI_ROOT : MPI_PROC_NULL) : root;
        int a[N], *all = malloc(N * theirs * sizeof(int)), *counts = malloc(theirs * sizeof(int)),
            *places = malloc(theirs * sizeof(int));
        int source = world_of(active, root);
        for (int i = 0; i < N; i++) a[i] = here == MPI_ROOT ? piece(source, 0, i) : -1;
        for (int r = 0; r < theirs; r++) counts[r] = N, places[r] = r * N;
        MPI_Bcast(a, N, MPI_INT, here, inter);
        if (active != side || here == MPI_ROOT)
            for (int i = 0; i < N; i++) EQUAL(a[i], piece(source, 0, i));
        else
            for (int i = 0; i < N; i++) EQUAL(a[i], -1);
        for (int v = 0; v < 2; v++) {
            for (int i = 0; i < N; i++) a[i] = piece(rank, 1, i);
            if (v) MPI_Gatherv(a, N, MPI_INT, all, counts, places, MPI_INT, here, inter);
            else MPI_Gather(a, N, MPI_INT, all, N, MPI_INT, here, inter);
            if (here == MPI_ROOT)
                for (int r = 0; r < theirs; r++)
                    for (int i = 0; i < N; i++) EQUAL(all[r * N + i], piece(world_of(!side, r), 1, i));
            for (int r = 0; r < theirs; r++)
                for (int i = 0; i < N; i++) all[r * N + i] = piece(rank, r, i);
            if (v) MPI_Scatterv(all, counts, places, MPI_INT, a, N, MPI_INT, here, inter);
            else MPI_Scatter(all, N, MPI_INT, a, N, MPI_INT, here, inter);
            if (active != side)
                for (int i = 0; i < N; i++) EQUAL(a[i], piece(source, me, i));
        }
        int b[N];
        for (int i = 0; i < N; i++) a[i] = rank + i, b[i] = -1;
        MPI_Reduce(a, b, N, MPI_INT, MPI_SUM, here, inter);
        int wanted = 0;
        for (int r = 0; r < theirs; r++) wanted += world_of(!side, r);
        for (int i = 0; i < N; i++) EQUAL(b[i], here == MPI_ROOT ? wanted + theirs * i : -1);
        free(all);
        free(counts);
        free(places);
    }
}

static void all_to_all(void)
{
    int a[N], b[N], sum = 0, *all = malloc(N * theirs * sizeof(int)), *out = malloc(N * theirs * sizeof(int));
    int *counts = malloc(theirs * sizeof(int)), *places = malloc(theirs * sizeof(int)),
        *bytes = malloc(theirs * sizeof(int));
    MPI_Datatype *types = malloc(theirs * sizeof *types);
    for (int r = 0; r < theirs; r++) {
        counts[r] = N;
        places[r] = r * N;
        bytes[r] = r * N * (int)sizeof(int);
        types[r] = MPI_INT;
        sum += world_of(!side, r);
    }
    for (int i = 0; i < N; i++) a[i] = piece(rank, 0, i);
    for (int v = 0; v < 3; v++) {
        memset(all, 0, N * theirs * sizeof(int));
        MPI_Request request = MPI_REQUEST_NULL;
        if (v == 2) MPI_Iallgather(a, N, MPI_INT, all, N, MPI_INT, inter, &request);
        else if (v) MPI_Allgatherv(a, N, MPI_INT, all, counts, places, MPI_INT, inter);
        else MPI_Allgather(a, N, MPI_INT, all, N, MPI_INT, inter);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < theirs; r++)
            for (int i = 0; i < N; i++) EQUAL(all[r * N + i], piece(world_of(!side, r), 0, i));
    }
    for (int r = 0; r < theirs; r++)
        for (int i = 0; i < N; i++) out[r * N + i] = piece(rank, world_of(!side, r), i);
    for (int v = 0; v < 3; v++) {
        memset(all, 0, N * theirs * sizeof(int));
        if (v == 0) MPI_Alltoall(out, N, MPI_INT, all, N, MPI_INT, inter);
        if (v == 1) MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, inter);
        if (v == 2) MPI_Alltoallw(out, counts, bytes, types, all, counts, bytes, types, inter);
        for (int r = 0; r < theirs; r++)
            for (int i = 0; i < N; i++) EQUAL(all[r * N + i], piece(world_of(!side, r), rank, i));
    }
    for (int i = 0; i < N; i++) a[i] = rank + i, b[i] = -1;
    MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < N; i++) EQUAL(b[i], sum + theirs * i);
    MPI_Request request;
    for (int i = 0; i < N; i++) b[i] = -1;
    MPI_Iallreduce(a, b, N, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(b[i], sum + theirs * i);
    /* the other side's sum, scattered among this side: as many elements here as there */
    int each = theirs * 6, *wide = malloc(mine * theirs * 6 * sizeof(int)),
        *got = malloc(mine * theirs * 6 * sizeof(int));
    for (int i = 0; i < mine * each; i++) wide[i] = rank + i;
    MPI_Reduce_scatter_block(wide, got, each, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < each; i++) EQUAL(got[i], sum + theirs * (me * each + i));
    int *lengths = malloc(mine * sizeof(int));
    for (int r = 0; r < mine; r++) lengths[r] = each;
    MPI_Reduce_scatter(wide, got, lengths, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < each; i++) EQUAL(got[i], sum + theirs * (me * each + i));
    free(lengths);
    free(wide);
    free(got);
    free(all);
    free(out);
    free(counts);
    free(places);
    free(bytes);
    free(types);
}

static void merged(void)
{
    for (int high = 0; high < 2; high++) {
        MPI_Comm both;
        int r, n;
        MPI_Intercomm_merge(inter, side ? high : !high, &both);
        MPI_Comm_rank(both, &r);
        MPI_Comm_size(both, &n);
        EQUAL(n, mine + theirs);
        EQUAL(r, (side ? high : !high) ? theirs + me : me);
        int total;
        MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, both);
        EQUAL(total, size * (size - 1) / 2);
        MPI_Comm_free(&both);
    }
}

static void described(void)
{
    MPI_Group a, b;
    int n, list[64], every[64], result;
    MPI_Group world;
    MPI_Comm_remote_size(inter, &n);
    EQUAL(n, theirs);
    MPI_Comm_remote_group(inter, &a);
    MPI_Comm_group(inter, &b);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int k = 0; k < theirs; k++) every[k] = k;
    MPI_Group_translate_ranks(a, theirs, every, world, list);
    for (int k = 0; k < theirs; k++) EQUAL(list[k], world_of(!side, k));
    MPI_Group_size(b, &n);
    EQUAL(n, mine);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Group_free(&world);
    MPI_Comm dup, part;
    MPI_Comm_dup(inter, &dup);
    MPI_Comm_compare(inter, dup, &result);
    EQUAL(result, MPI_CONGRUENT);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    /* split: the first of both sides */
    MPI_Comm_split(inter, me == 0 ? 0 : MPI_UNDEFINED, 0, &part);
    if (me == 0) {
        int value = -1;
        MPI_Comm_remote_size(part, &n);
        EQUAL(n, 1);
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &value, 1, MPI_INT, 0, 1, part, MPI_STATUS_IGNORE);
        EQUAL(value, world_of(!side, 0));
        MPI_Comm_free(&part);
    } else {
        CHECK(part == MPI_COMM_NULL);
    }
}

int main(void)
{
    start();
    if (size > 1) {
        side = rank % 2;
        MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local);
        MPI_Comm_rank(local, &me);
        MPI_Comm_size(local, &mine);
        theirs = size - mine;
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !side, 12, &inter);
        point_to_point();
        rooted(0);
        rooted(1);
        all_to_all();
        merged();
        described();
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    return finish("intercommunicators");
}
