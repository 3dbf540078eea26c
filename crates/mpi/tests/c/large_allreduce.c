/* Allreduce of vectors that two ranks reduce half each: sizes around the limits of pieces, in place and not, pairs of
   ranks in turn on several communicators, operations that must not be split differently on two ranks, and the same bits
   on both. */
#include "check.h"

#include <math.h>
#include <stdint.h>

static double term(int who, int i) { return pow(10.0, (who * 7 + i) % 12) / (i + 3); }

static void sums(MPI_Comm comm, int n, int in_place)
{
    int who, ranks;
    MPI_Comm_rank(comm, &who);
    MPI_Comm_size(comm, &ranks);
    double *in = malloc(n * sizeof *in), *out = malloc((n + 1) * sizeof *out), *theirs = malloc(n * sizeof *theirs);
    for (int i = 0; i < n; i++) in[i] = out[i] = term(who, i);
    out[n] = -1;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n; i++) {
        double sum = 0, size_of_terms = 0;
        for (int r = 0; r < ranks; r++) sum += term(r, i), size_of_terms += fabs(term(r, i));
        CHECK(fabs(out[i] - sum) <= 1e-12 * size_of_terms);
        CHECK(in[i] == term(who, i));
    }
    CHECK(out[n] == -1);
    int next = (who + 1) % ranks, before = (who + ranks - 1) % ranks;
    MPI_Sendrecv(out, n, MPI_DOUBLE, next, 0, theirs, n, MPI_DOUBLE, before, 0, comm, MPI_STATUS_IGNORE);
    CHECK(memcmp(out, theirs, n * sizeof *out) == 0);
    free(in), free(out), free(theirs);
}

static void greatest(MPI_Comm comm, int n)
{
    int who, ranks;
    MPI_Comm_rank(comm, &who);
    MPI_Comm_size(comm, &ranks);
    int8_t *in = malloc(n), *out = malloc(n);
    for (int i = 0; i < n; i++) in[i] = (int8_t)(i % 100 + who);
    MPI_Allreduce(in, out, n, MPI_INT8_T, MPI_MAX, comm);
    for (int i = 0; i < n; i++) EQUAL(out[i], i % 100 + ranks - 1);
    free(in), free(out);
}

static void first_of(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, *count * sizeof(int));
}

/* Not commutative: everybody gets rank 0's. */
static void first(MPI_Comm comm, int n)
{
    int who;
    MPI_Comm_rank(comm, &who);
    MPI_Op op;
    MPI_Op_create(first_of, 0, &op);
    int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    for (int i = 0; i < n; i++) in[i] = who * n + i;
    MPI_Allreduce(in, out, n, MPI_INT, op, comm);
    for (int i = 0; i < n; i++) EQUAL(out[i], i);
    MPI_Op_free(&op);
    free(in), free(out);
}

/* So many in a row, with other operands each, that the library tries all its ways. */
static void many(MPI_Comm comm, int n, int times, int in_place)
{
    int who, ranks;
    MPI_Comm_rank(comm, &who);
    MPI_Comm_size(comm, &ranks);
    double *in = malloc(n * sizeof *in), *out = malloc((n + 1) * sizeof *out), *own = in_place ? out : in;
    out[n] = 0.5;
    for (int t = 0; t < times; t++) {
        for (int i = 0; i < n; i++) own[i] = i + t * (who + 1.0);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < n; i++) {
            EQUAL(out[i], (double)ranks * i + t * (ranks * (ranks + 1) / 2.0));
            if (!in_place) EQUAL(in[i], i + t * (who + 1.0));
        }
        CHECK(out[n] == 0.5);
    }
    free(in), free(out);
}

/* Which zero is the greatest depends on the order of the two; that must be the same by each way. */
static void zeros(MPI_Comm comm, int n, int times)
{
    int who;
    MPI_Comm_rank(comm, &who);
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out), *first = malloc(n * sizeof *first);
    for (int i = 0; i < n; i++) in[i] = who % 2 ? -0.0 : 0.0;
    MPI_Allreduce(in, first, n, MPI_DOUBLE, MPI_MAX, comm);
    for (int t = 0; t < times; t++) {
        MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_MAX, comm);
        CHECK(memcmp(out, first, n * sizeof *out) == 0);
    }
    free(in), free(out), free(first);
}

int main(void)
{
    start();
    zeros(MPI_COMM_WORLD, 40000, 100);
    for (int in_place = 0; in_place < 2; in_place++) {
        many(MPI_COMM_WORLD, 8193, 300, in_place);
        many(MPI_COMM_WORLD, 40001, 150, in_place);
        many(MPI_COMM_WORLD, 600011, 5, in_place);
    }
    sums(MPI_COMM_WORLD, 600011, 0);
    const int sizes[] = {2047, 2048, 2049, 8192, 16385, 65537, 100003};
    for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
        /* Every pair of ranks in turn, and all together. */
        for (int a = 0; a < size; a++) {
            int b = (a + 1 + s) % size;
            MPI_Comm pair;
            MPI_Comm_split(MPI_COMM_WORLD, rank == a || rank == b ? 0 : MPI_UNDEFINED, rank, &pair);
            if (pair == MPI_COMM_NULL) continue;
            sums(pair, sizes[s], 0);
            sums(pair, sizes[s], 1);
            greatest(pair, 8 * sizes[s] + 3);
            first(pair, sizes[s]);
            MPI_Comm_free(&pair);
        }
        sums(MPI_COMM_WORLD, sizes[s], s % 2);
    }
    return finish("large_allreduce");
}
