/* Blocking collectives: every root, several sizes, in place, derived types, sub-communicators. */
#include "check.h"

static const int counts[] = {0, 1, 5, 1000, 30000};
static MPI_Comm comm;
static int me, n; /* in comm */

static int *room(long elements, int value)
{
    int *p = malloc((elements + 1) * sizeof(int));
    for (long i = 0; i < elements; i++) p[i] = value;
    return p;
}

static int element(int owner, long i) { return owner * 100003 + (int)i * 7; }

static void barrier(void)
{
    for (int i = 0; i < 10; i++) MPI_Barrier(comm);
    /* nobody leaves before the last has come: what was sent synchronously before it was received */
    for (int late = 1; late < n; late++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int word = 0, flag = 1;
        if (me == 0) MPI_Irecv(&word, 1, MPI_INT, late, 3, comm, &request);
        if (me == late) MPI_Ssend(&late, 1, MPI_INT, 0, 3, comm);
        MPI_Barrier(comm);
        if (me == 0) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            EQUAL(word, late);
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        MPI_Barrier(comm);
    }
}

static void bcast(int count)
{
    for (int root = 0; root < n; root++) {
        int *a = room(count, -1);
        if (me == root)
            for (int i = 0; i < count; i++) a[i] = element(root, i);
        MPI_Bcast(a, count, MPI_INT, root, comm);
        for (int i = 0; i < count; i++) EQUAL(a[i], element(root, i));
        free(a);
    }
}

/* The root has a strided type, the others a contiguous one of equal signature. */
static void bcast_of_types(int count)
{
    MPI_Datatype strided;
    MPI_Type_vector(count, 1, 3, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    for (int root = 0; root < n; root++) {
        int *a = room(3L * count, -1);
        if (me == root) {
            for (int i = 0; i < count; i++) a[3 * i] = element(root, i);
            MPI_Bcast(a, 1, strided, root, comm);
        } else {
            MPI_Bcast(a, count, MPI_INT, root, comm);
            for (int i = 0; i < count; i++) EQUAL(a[i], element(root, i));
        }
        free(a);
    }
    MPI_Type_free(&strided);
}

static void gather_and_scatter(int count)
{
    for (int root = 0; root < n; root++) {
        int *mine = room(count, -1), *all = room((long)count * n, -1);
        for (int i = 0; i < count; i++) mine[i] = element(me, i);
        MPI_Gather(mine, count, MPI_INT, me == root ? all : NULL, count, MPI_INT, root, comm);
        if (me == root)
            for (int r = 0; r < n; r++)
                for (int i = 0; i < count; i++) EQUAL(all[(long)r * count + i], element(r, i));
        if (me == root) {
            for (long i = 0; i < (long)count * n; i++) all[i] = -1;
            for (int i = 0; i < count; i++) all[(long)me * count + i] = element(me, i);
        }
        MPI_Gather(me == root ? MPI_IN_PLACE : mine, count, MPI_INT, all, count, MPI_INT, root, comm);
        if (me == root)
            for (int r = 0; r < n; r++)
                for (int i = 0; i < count; i++) EQUAL(all[(long)r * count + i], element(r, i));
        for (int i = 0; i < count; i++) mine[i] = -1;
        MPI_Scatter(me == root ? all : NULL, count, MPI_INT, mine, count, MPI_INT, root, comm);
        for (int i = 0; i < count; i++) EQUAL(mine[i], element(me, i));
        for (int i = 0; i < count; i++) mine[i] = -1;
        MPI_Scatter(all, count, MPI_INT, me == root ? MPI_IN_PLACE : mine, count, MPI_INT, root, comm);
        for (int i = 0; me != root && i < count; i++) EQUAL(mine[i], element(me, i));
        free(mine);
        free(all);
    }
}

/* Rank r has r + count % 3 elements (0 of some), placed in reverse with gaps. */
static void gatherv_and_scatterv(int count)
{
    int *lengths = malloc(n * sizeof(int)), *places = malloc(n * sizeof(int)), total = 0;
    for (int r = n - 1; r >= 0; r--) {
        lengths[r] = r % 3 == 1 ? 0 : count + r;
        places[r] = total + 2;
        total += lengths[r] + 3;
    }
    for (int root = 0; root < n; root++) {
        int *mine = room(lengths[me], -1), *all = room(total, -1);
        for (int i = 0; i < lengths[me]; i++) mine[i] = element(me, i);
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int i = 0; i < total; i++) all[i] = -1;
            if (in_place) memcpy(all + places[me], mine, lengths[me] * sizeof(int));
            MPI_Gatherv(in_place &&
                        me == root ? MPI_IN_PLACE : mine, lengths[me], MPI_INT, all, lengths, places, MPI_INT,
                        root, comm);
            if (me == root) {
                int written = 0;
                for (int r = 0; r < n; r++)
                    for (int i = 0; i < lengths[r]; i++, written++) EQUAL(all[places[r] + i], element(r, i));
                for (int i = 0; i < total; i++) written += all[i] == -1;
                EQUAL(written, total);
            }
        }
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int i = 0; i < lengths[me]; i++) mine[i] = -1;
            MPI_Scatterv(all, lengths, places, MPI_INT, in_place &&
                         me == root ? MPI_IN_PLACE : mine, lengths[me], MPI_INT, root, comm);
            for (int i = 0; !(in_place && me == root) && i < lengths[me]; i++) EQUAL(mine[i], element(me, i));
        }
        free(mine);
        free(all);
    }
    free(lengths);
    free(places);
}

static void allgather(int count)
{
    int *mine = room(count, -1), *all = room((long)count * n, -1);
    for (int i = 0; i < count; i++) mine[i] = element(me, i);
    MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) EQUAL(all[(long)r * count + i], element(r, i));
    for (long i = 0; i < (long)count * n; i++) all[i] = i / (count ? count : 1) == me ? element(me, i % count) : -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) EQUAL(all[(long)r * count + i], element(r, i));
    int *lengths = malloc(n * sizeof(int)), *places = malloc(n * sizeof(int)), total = 0;
    for (int r = n - 1; r >= 0; r--) {
        lengths[r] = r % 2 ? count / 2 : count;
        places[r] = total;
        total += lengths[r] + 1;
    }
    int *more = room(total, -1);
    MPI_Allgatherv(mine, lengths[me], MPI_INT, more, lengths, places, MPI_INT, comm);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < lengths[r]; i++) EQUAL(more[places[r] + i], element(r, i));
        EQUAL(more[places[r] + lengths[r]], -1);
    }
    for (int i = 0; i < total; i++) more[i] = -1;
    memcpy(more + places[me], mine, lengths[me] * sizeof(int));
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, more, lengths, places, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < lengths[r]; i++) EQUAL(more[places[r] + i], element(r, i));
    free(mine);
    free(all);
    free(more);
    free(lengths);
    free(places);
}

/* What rank `from` sends to rank `to`. */
static int piece(int from, int to, int i) { return from * 1000003 + to * 1009 + i; }

static void alltoall(int count)
{
    int *out = room((long)count * n, -1), *in = room((long)count * n, -1);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) out[(long)r * count + i] = piece(me, r, i);
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) EQUAL(in[(long)r * count + i], piece(r, me, i));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) EQUAL(out[(long)r * count + i], piece(r, me, i));
    free(out);
    free(in);
}

/* Even ranks say what they send and receive as rows, odd ones as elements. */
static void rows_and_elements(int count)
{
    MPI_Datatype row;
    MPI_Type_contiguous(count, MPI_INT, &row);
    MPI_Type_commit(&row);
    MPI_Datatype type = me % 2 ? MPI_INT : row;
    int each = me % 2 ? count : 1;
    int *out = room((long)count * n, -1), *in = room((long)count * n, -1);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) out[(long)r * count + i] = piece(me, r, i);
    MPI_Alltoall(out, each, type, in, each, type, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) EQUAL(in[(long)r * count + i], piece(r, me, i));
    MPI_Allgather(out, each, type, in, each, type, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < count; i++) EQUAL(in[(long)r * count + i], piece(r, 0, i));
    for (int root = 0; root < n; root++) {
        for (long i = 0; i < (long)count * n; i++) in[i] = -1;
        MPI_Gather(out, each, type, in, each, type, root, comm);
        for (int r = 0; r < n; r++)
            for (int i = 0; i < count; i++) EQUAL(in[(long)r * count + i], me == root ? piece(r, 0, i) : -1);
        MPI_Scatter(out, each, type, in, each, type, root, comm);
        for (int i = 0; i < count; i++) EQUAL(in[i], piece(root, me, i));
    }
    MPI_Type_free(&row);
    free(out);
    free(in);
}

static void alltoallv(int count)
{
    if (count > 1000) count = 1000;
    int *sc = malloc(n * sizeof(int)), *sp = malloc(n * sizeof(int)), *rc = malloc(n * sizeof(int)),
        *rp = malloc(n * sizeof(int));
    int sends = 0, receives = 0;
    for (int r = 0; r < n; r++) {
        sc[r] = (me * 3 + r * 5) % 4 == 0 ? 0 : count + (me + 2 * r) % 5;
        rc[r] = (r * 3 + me * 5) % 4 == 0 ? 0 : count + (r + 2 * me) % 5;
        sp[r] = sends;
        sends += sc[r] + 1;
    }
    for (int r = n - 1; r >= 0; r--) {
        rp[r] = receives + 1;
        receives += rc[r] + 2;
    }
    int *out = room(sends, -1), *in = room(receives, -1);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < sc[r]; i++) out[sp[r] + i] = piece(me, r, i);
    MPI_Alltoallv(out, sc, sp, MPI_INT, in, rc, rp, MPI_INT, comm);
    int gaps = 0;
    for (int r = 0; r < n; r++)
        for (int i = 0; i < rc[r]; i++) EQUAL(in[rp[r] + i], piece(r, me, i));
    for (int i = 0; i < receives; i++) gaps += in[i] == -1;
    EQUAL(gaps, 2 * n);
    /* alltoallw: a type and a place in bytes for each partner; sender and receiver name the type differently */
    MPI_Datatype pair, *st = malloc(n * sizeof *st), *rt = malloc(n * sizeof *rt);
    MPI_Type_contiguous(1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int r = 0; r < n; r++) {
        st[r] = r % 2 ? pair : MPI_INT;
        rt[r] = me % 2 ? MPI_INT : pair;
        sp[r] *= (int)sizeof(int);
        rp[r] *= (int)sizeof(int);
    }
    for (int i = 0; i < receives; i++) in[i] = -1;
    MPI_Alltoallw(out, sc, sp, st, in, rc, rp, rt, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < rc[r]; i++) EQUAL(in[rp[r] / (int)sizeof(int) + i], piece(r, me, i));
    /* in place: counts must be symmetric */
    int total = 0;
    for (int r = 0; r < n; r++) {
        rc[r] = (r + me) % 3 * (1 + count / 4);
        rp[r] = total;
        total += rc[r];
    }
    int *both = room(total, -1);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < rc[r]; i++) both[rp[r] + i] = piece(me, r, i);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, both, rc, rp, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < rc[r]; i++) EQUAL(both[rp[r] + i], piece(r, me, i));
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < rc[r]; i++) both[rp[r] + i] = piece(me, r, i);
        rt[r] = MPI_INT;
    }
    for (int r = 0; r < n; r++) rp[r] *= (int)sizeof(int);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, both, rc, rp, rt, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < rc[r]; i++) EQUAL(both[rp[r] / (int)sizeof(int) + i], piece(r, me, i));
    MPI_Type_free(&pair);
    free(both);
    free(out);
    free(in);
    free(sc);
    free(sp);
    free(rc);
    free(rp);
    free(st);
    free(rt);
}

static void reductions(int count)
{
    int *a = room(count, 0), *b = room(count, -1), sum_of_ranks = n * (n - 1) / 2;
    for (int i = 0; i < count; i++) a[i] = me + i;
    for (int root = 0; root < n; root++) {
        MPI_Reduce(a, b, count, MPI_INT, MPI_SUM, root, comm);
        for (int i = 0; i < count; i++) EQUAL(b[i], me == root ? sum_of_ranks + n * i : -1);
        for (int i = 0; i < count; i++) b[i] = me == root ? a[i] : -1;
        MPI_Reduce(me == root ? MPI_IN_PLACE : a, me == root ? b : NULL, count, MPI_INT, MPI_SUM, root, comm);
        for (int i = 0; me == root && i < count; i++) EQUAL(b[i], sum_of_ranks + n * i);
        for (int i = 0; i < count; i++) b[i] = -1;
    }
    MPI_Allreduce(a, b, count, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < count; i++) EQUAL(b[i], n - 1 + i);
    for (int i = 0; i < count; i++) b[i] = a[i];
    MPI_Allreduce(MPI_IN_PLACE, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) EQUAL(b[i], sum_of_ranks + n * i);
    MPI_Scan(a, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) EQUAL(b[i], me * (me + 1) / 2 + (me + 1) * i);
    for (int i = 0; i < count; i++) b[i] = a[i];
    MPI_Scan(MPI_IN_PLACE, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) EQUAL(b[i], me * (me + 1) / 2 + (me + 1) * i);
    MPI_Exscan(a, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; me > 0 && i < count; i++) EQUAL(b[i], me * (me - 1) / 2 + me * i);
    for (int i = 0; i < count; i++) b[i] = a[i];
    MPI_Exscan(MPI_IN_PLACE, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; me > 0 && i < count; i++) EQUAL(b[i], me * (me - 1) / 2 + me * i);
    free(a);
    free(b);
    /* reduce_scatter and its block form */
    int *lengths = malloc(n * sizeof(int)), total = 0, before = 0;
    for (int r = 0; r < n; r++) {
        lengths[r] = r % 3 == 2 ? 0 : count + r;
        if (r < me) before += lengths[r];
        total += lengths[r];
    }
    a = room(total, 0);
    b = room(lengths[me], -1);
    for (int i = 0; i < total; i++) a[i] = me * 2 + i;
    MPI_Reduce_scatter(a, b, lengths, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < lengths[me]; i++) EQUAL(b[i], 2 * sum_of_ranks + n * (before + i));
    MPI_Reduce_scatter(MPI_IN_PLACE, a, lengths, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < lengths[me]; i++) EQUAL(a[i], 2 * sum_of_ranks + n * (before + i));
    free(a);
    free(b);
    free(lengths);
    a = room((long)count * n, 0);
    b = room(count, -1);
    for (int i = 0; i < count * n; i++) a[i] = me * 2 + i;
    MPI_Reduce_scatter_block(a, b, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) EQUAL(b[i], 2 * sum_of_ranks + n * (me * count + i));
    MPI_Reduce_scatter_block(MPI_IN_PLACE, a, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) EQUAL(a[i], 2 * sum_of_ranks + n * (me * count + i));
    free(a);
    free(b);
}

/* Gather into columns, scatter from columns: extents come from a resized type. */
static void columns(int rows)
{
    MPI_Datatype strided, column;
    MPI_Type_vector(rows, 1, n, MPI_INT, &strided);
    MPI_Type_create_resized(strided, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    int *mine = room(rows, 0), *matrix = room((long)rows * n, -1), *back = room(rows, -1);
    for (int i = 0; i < rows; i++) mine[i] = element(me, i);
    MPI_Gather(mine, rows, MPI_INT, matrix, 1, column, n - 1, comm);
    for (int i = 0; me == n - 1 && i < rows * n; i++) EQUAL(matrix[i], element(i % n, i / n));
    MPI_Scatter(matrix, 1, column, back, rows, MPI_INT, n - 1, comm);
    for (int i = 0; i < rows; i++) EQUAL(back[i], element(me, i));
    for (int i = 0; i < rows * n; i++) matrix[i] = -1;
    MPI_Allgather(mine, rows, MPI_INT, matrix, 1, column, comm);
    for (int i = 0; i < rows * n; i++) EQUAL(matrix[i], element(i % n, i / n));
    /* a transposition: columns out, blocks in */
    int *in = room((long)rows * n, -1);
    for (int i = 0; i < rows * n; i++) matrix[i] = piece(me, i % n, i / n);
    MPI_Alltoall(matrix, 1, column, in, rows, MPI_INT, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < rows; i++) EQUAL(in[r * rows + i], piece(r, me, i));
    /* a reduction of a derived type is not allowed with predefined operations; bcast of the column is */
    for (int i = 0; i < rows * n; i++) matrix[i] = me == 0 ? i : -1;
    MPI_Bcast(matrix, 1, column, 0, comm);
    for (int i = 0; i < rows * n; i++) EQUAL(matrix[i], me == 0 || i % n == 0 ? i : -1);
    free(in);
    free(mine);
    free(matrix);
    free(back);
    MPI_Type_free(&strided);
    MPI_Type_free(&column);
}

static void everything_on(MPI_Comm on)
{
    comm = on;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    barrier();
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        bcast(counts[k]);
        bcast_of_types(counts[k]);
        gather_and_scatter(counts[k]);
        gatherv_and_scatterv(counts[k]);
        allgather(counts[k]);
        alltoall(counts[k]);
        rows_and_elements(counts[k]);
        alltoallv(counts[k]);
        reductions(counts[k]);
    }
    columns(1);
    columns(50);
    columns(3000);
    bcast(1000000);
}

int main(void)
{
    start();
    everything_on(MPI_COMM_WORLD);
    everything_on(MPI_COMM_SELF);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    everything_on(half);
    MPI_Comm_free(&half);
    return finish("collectives");
}
