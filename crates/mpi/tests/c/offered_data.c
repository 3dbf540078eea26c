/* Large data of collectives where one side has gaps and the other has none, several collectives at once that ranks
   complete in different orders, and ranks that expect less than comes. */
#include "check.h"

/* So much that what ranks show does not all fit. */
enum { N = 530000 };

/* Ints with a gap behind each. */
static MPI_Datatype gaps(void)
{
    MPI_Datatype one;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &one);
    MPI_Type_commit(&one);
    return one;
}

static void one_side_has_gaps(int root)
{
    MPI_Datatype gappy = gaps();
    int *in = malloc(2 * N * sizeof *in * size), *out = malloc(2 * N * sizeof *out * size);
    for (int at_root = 0; at_root < 2; at_root++) {
        int wide = (rank == root) == at_root, step = wide ? 2 : 1;
        MPI_Datatype type = wide ? gappy : MPI_INT;
        for (int i = 0; i < N; i++) in[step * i] = rank == root ? i : -1;
        MPI_Bcast(in, N, type, root, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) EQUAL(in[step * i], i);
        for (int i = 0; i < N * size; i++) in[step * i] = rank * N + i;
        MPI_Gather(in, N, type, out, N, type, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < N * size; i++) EQUAL(out[step * i], i / N * N + i % N);
        MPI_Scatter(in, N, type, out, N, type, root, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) EQUAL(out[step * i], root * N + rank * N + i);
        MPI_Alltoall(in, N, type, out, N, type, MPI_COMM_WORLD);
        for (int i = 0; i < N * size; i++) EQUAL(out[step * i], i / N * N + rank * N + i % N);
    }
    free(in), free(out);
    MPI_Type_free(&gappy);
}

static void several_at_once(void)
{
    enum { SEVERAL = 4 };
    MPI_Request requests[SEVERAL];
    int *in[SEVERAL], *out[SEVERAL];
    for (int k = 0; k < SEVERAL; k++) {
        in[k] = malloc(N * sizeof(int) * size), out[k] = malloc(N * sizeof(int) * size);
        for (int i = 0; i < N * size; i++) in[k][i] = k + rank * N + i;
    }
    MPI_Ialltoall(in[0], N, MPI_INT, out[0], N, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(in[1], N, MPI_INT, out[1], N, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Igather(in[2], N, MPI_INT, out[2], N, MPI_INT, size - 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallreduce(in[3], out[3], N, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[3]);
    for (int k = 0; k < SEVERAL; k++) MPI_Wait(&requests[(k + rank) % SEVERAL], MPI_STATUS_IGNORE);
    for (int i = 0; i < N * size; i++) {
        EQUAL(out[0][i], i / N * N + rank * N + i % N);
        EQUAL(out[1][i], 1 + i / N * N + i % N);
        if (rank == size - 1) EQUAL(out[2][i], 2 + i / N * N + i % N);
    }
    for (int i = 0; i < N; i++) EQUAL(out[3][i], 3 + (size - 1) * N + i);
    for (int k = 0; k < SEVERAL; k++) free(in[k]), free(out[k]);
}

/* So often that each way of large data is measured, and taken. */
static void again_and_again(void)
{
    enum { LARGE = 17000 };
    int *in = malloc(LARGE * sizeof *in * size), *out = malloc(LARGE * sizeof *out * size);
    for (int turn = 0; turn < 60; turn++) {
        int root = turn % 3 % size;
        for (int i = 0; i < LARGE * size; i++) in[i] = turn + rank * LARGE + i;
        MPI_Alltoall(in, LARGE, MPI_INT, out, LARGE, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < LARGE * size; i++) EQUAL(out[i], turn + i / LARGE * LARGE + rank * LARGE + i % LARGE);
        MPI_Scatter(in, LARGE, MPI_INT, out, LARGE, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < LARGE; i++) EQUAL(out[i], turn + (root + rank) * LARGE + i);
    }
    free(in), free(out);
}

static void less_is_expected(void)
{
    static const int expected[] = {N / 2, 5000, 1000, 10, 8, 6, 2};
    int *data = calloc(N, sizeof *data);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        if (rank == 0) {
            MPI_Bcast(data, N, MPI_INT, 0, comm);
        } else {
            FAILS(MPI_Bcast(data, expected[k], MPI_INT, 0, comm), MPI_ERR_TRUNCATE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_free(&comm);
    }
    free(data);
}

int main(void)
{
    start();
    one_side_has_gaps(0);
    one_side_has_gaps(size - 1);
    several_at_once();
    again_and_again();
    less_is_expected();
    return finish("offered_data");
}
