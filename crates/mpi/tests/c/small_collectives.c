/* Blocking collectives of small data: apart, in place, and with a rank whose datatype is another one of as many bytes;
 * many in a row, so that some ranks run ahead; up to the size from which on other ways are taken. */
#include "check.h"

enum { MOST = 300, ROUNDS = 40 };
static MPI_Datatype pairs;

/* How the data of a rank is given: all say so many doubles, but one rank says half as many pairs. */
static MPI_Datatype type_of(int r, int odd) { return r == odd ? pairs : MPI_DOUBLE; }
static int count_of(int r, int odd, int n) { return r == odd ? n / 2 : n; }

static double value(int round, int from, int to, int i) { return round * 1e6 + from * 1e4 + to * 1e3 + i; }

/* `odd`: the rank with the other datatype, or none. */
static void blocks(int round, int n, int odd, int in_place)
{
    double *in = malloc(sizeof(double) * n * size), *out = malloc(sizeof(double) * (n * size + 2));
    int root = round % size, count = count_of(rank, odd, n);
    MPI_Datatype type = type_of(rank, odd);
    double *own = out + 1 + n * rank;
    out[0] = out[n * size + 1] = -7;

    for (int i = 0; i < n * size; i++) out[1 + i] = -1;
    for (int i = 0; i < n; i++) in[i] = value(round, rank, 0, i);
    if (in_place) memcpy(own, in, sizeof(double) * n);
    if (in_place) MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out + 1, count, type, MPI_COMM_WORLD);
    else MPI_Allgather(in, count, type, out + 1, count, type, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++) EQUAL(out[1 + i], value(round, i / n, 0, i % n));

    for (int i = 0; i < n * size; i++) out[1 + i] = -1;
    if (in_place && rank == root) memcpy(own, in, sizeof(double) * n);
    MPI_Gather(in_place && rank == root ? MPI_IN_PLACE : in, count, type, out + 1, count, type, root, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++) EQUAL(out[1 + i], rank == root ? value(round, i / n, 0, i % n) : -1);

    for (int i = 0; i < n * size; i++) in[i] = value(round, rank, i / n, i % n), out[1 + i] = in_place ? in[i] : -1;
    MPI_Alltoall(in_place ? MPI_IN_PLACE : in, count, type, out + 1, count, type, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++) EQUAL(out[1 + i], value(round, i / n, rank, i % n));

    for (int i = 0; i < n * size; i++) in[i] = value(round, root, i / n, i % n), out[1 + i] = -1;
    MPI_Scatter(in, count, type, in_place && rank == root ? MPI_IN_PLACE : out + 1, count, type, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) EQUAL(out[1 + i], in_place && rank == root ? -1 : value(round, root, rank, i));

    EQUAL(out[0], -7);
    EQUAL(out[n * size + 1], -7);
    free(in);
    free(out);
}

static void reductions(int round, int n, int in_place)
{
    double in[MOST] = {0}, out[MOST + 1];
    int root = round % size;
    double ranks = size * (size - 1) / 2.0;
    for (int i = 0; i < n; i++) in[i] = rank + i + round, out[i] = in_place ? in[i] : -1;
    out[n] = -7;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) EQUAL(out[i], ranks + size * (i + round));
    for (int i = 0; i < n; i++) out[i] = in_place ? in[i] : -1;
    if (rank == root) {
        MPI_Reduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) EQUAL(out[i], size - 1 + i + round);
    } else {
        MPI_Reduce(in, NULL, n, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
    }
    EQUAL(out[n], -7);
    if (round % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
}

/* Sums whose bits depend on the order of operands: all ranks have the same. */
static void same_bits(void)
{
    double in[3] = {1.0 / (rank + 1), 1e16 * (rank % 2 ? -1 : 1), 0.1 * rank}, out[3], all[3 * 64];
    for (int in_place = 0; in_place < 2; in_place++) {
        memcpy(out, in, sizeof in);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather(out, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int r = 1; r < size; r++) EQUAL(memcmp(all, all + 3 * r, sizeof out), 0);
    }
}

int main(void)
{
    start();
    MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
    MPI_Type_commit(&pairs);
    static const int sizes[] = {2, 16, 100, 256, 258};
    for (int round = 0; round < ROUNDS; round++) {
        int n = sizes[round % 5], odd = round % 3 ? -1 : (round / 3) % size;
        blocks(round, n, odd, round % 2);
        reductions(round, n, round % 2);
    }
    same_bits();
    MPI_Type_free(&pairs);
    return finish("small_collectives");
}
