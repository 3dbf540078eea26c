/* MPI_IN_PLACE in non-blocking collectives, types with odd bounds in collectives, and operations freed early. */
#include "check.h"

enum { N = 50 };
static int a[64 * N], b[64 * N];

static void non_blocking(void)
{
    MPI_Request r;
    int root = size / 2;
    for (int i = 0; i < N * size; i++) a[i] = i / N == rank ? rank * 1000 + i % N : -1;
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, N, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N * size; i++) EQUAL(a[i], i / N * 1000 + i % N);
    for (int i = 0; i < N; i++) b[i] = rank * 1000 + i;
    for (int i = 0; i < N * size; i++) a[i] = i / N == rank ? rank * 1000 + i % N : -1;
    MPI_Igather(rank == root ? MPI_IN_PLACE : b, N, MPI_INT, a, N, MPI_INT, root, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; rank == root && i < N * size; i++) EQUAL(a[i], i / N * 1000 + i % N);
    for (int i = 0; i < N; i++) b[i] = -1;
    MPI_Iscatter(a, N, MPI_INT, rank == root ? MPI_IN_PLACE : b, N, MPI_INT, root, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; rank != root && i < N; i++) EQUAL(b[i], rank * 1000 + i);
    for (int i = 0; i < N * size; i++) a[i] = rank * 100000 + i;
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, N, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N * size; i++) EQUAL(a[i], i / N * 100000 + rank * N + i % N);
    for (int i = 0; i < N; i++) a[i] = rank + i;
    MPI_Iallreduce(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(a[i], size * (size - 1) / 2 + size * i);
    for (int i = 0; i < N; i++) a[i] = rank + i;
    MPI_Iscan(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(a[i], rank * (rank + 1) / 2 + (rank + 1) * i);
    for (int i = 0; i < N; i++) a[i] = rank + i;
    MPI_Iexscan(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; rank && i < N; i++) EQUAL(a[i], rank * (rank - 1) / 2 + rank * i);
    for (int i = 0; i < N * size; i++) a[i] = rank + i;
    MPI_Ireduce_scatter_block(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(a[i], size * (size - 1) / 2 + size * (rank * N + i));
    for (int i = 0; i < N; i++) a[i] = rank + i;
    MPI_Ireduce(rank == root ? MPI_IN_PLACE : a, rank == root ? a : NULL, N, MPI_INT, MPI_MIN, root, MPI_COMM_WORLD,
                &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; rank == root && i < N; i++) EQUAL(a[i], i);
}

/* Elements that lie backwards, with a lower bound below their address. */
static void backwards(void)
{
    MPI_Datatype back, placed;
    MPI_Type_vector(3, 1, -2, MPI_INT, &back); /* at 0, -2, -4 */
    MPI_Type_create_resized(back, -4 * (MPI_Aint)sizeof(int), 6 * sizeof(int), &placed);
    MPI_Type_commit(&placed);
    int *from = malloc(sizeof(int) * 6 * (size + 2)), *to = malloc(sizeof(int) * 6 * (size + 2));
    for (int i = 0; i < 6 * (size + 2); i++) from[i] = rank * 1000 + i, to[i] = -1;
    MPI_Allgather(from + 6, 1, placed, to + 6, 1, placed, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int k = 0; k < 3; k++) EQUAL(to[6 + 6 * r - 2 * k], r * 1000 + 6 - 2 * k);
    MPI_Alltoall(from + 6, 1, placed, to + 6, 1, placed, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int k = 0; k < 3; k++) EQUAL(to[6 + 6 * r - 2 * k], r * 1000 + 6 + 6 * rank - 2 * k);
    MPI_Bcast(from + 6, size, placed, size - 1, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int k = 0; k < 3; k++) EQUAL(from[6 + 6 * r - 2 * k], (size - 1) * 1000 + 6 + 6 * r - 2 * k);
    MPI_Type_free(&back);
    MPI_Type_free(&placed);
    free(from);
    free(to);
}

static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++) ((int *)inout)[i] *= ((int *)in)[i];
}

/* Handles may be freed while a non-blocking collective that uses them is under way. */
static void freed_early(void)
{
    MPI_Op op;
    MPI_Datatype type;
    MPI_Comm comm;
    MPI_Request r[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 1, &op);
    for (int i = 0; i < N; i++) a[i] = 1 + (rank == 0), b[i] = 0;
    MPI_Iallreduce(a, b, N, type, op, comm, &r[0]);
    MPI_Iallgather(a, N, type, b + N, N, type, comm, &r[1]);
    MPI_Ibarrier(comm, &r[2]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(b[i], 2);
    for (int i = 0; i < N * size; i++) EQUAL(b[N + i], 1 + (i < N));
}

int main(void)
{
    start();
    non_blocking();
    backwards();
    freed_early();
    return finish("in_place");
}
