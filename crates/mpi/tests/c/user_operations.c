/* User-defined operations: order and grouping of those that do not commute, derived types, in every reduction. */
#include <stdint.h>
#include "check.h"

/* 2 x 2 matrices modulo a prime: associative, not commutative. */
typedef struct { int64_t m[4]; } Matrix;
enum { PRIME = 1000003 };
static int calls;

static Matrix times(Matrix a, Matrix b)
{
    Matrix c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) c.m[2 * i + j] = (a.m[2 * i] * b.m[j] + a.m[2 * i + 1] * b.m[2 + j]) % PRIME;
    return c;
}

static MPI_Datatype matrix;

/* inoutvec[i] = invec[i] x inoutvec[i] */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    Matrix *a = in, *b = inout;
    CHECK(*type == matrix);
    calls++;
    for (int i = 0; i < *length; i++) b[i] = times(a[i], b[i]);
}

static void multiply_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    int n = (int)*length;
    multiply(in, inout, &n, type);
}

static Matrix of(int r, int i)
{
    Matrix a = {{r + 1, i % 97 + 2, (r * i) % 89 + 3, 2 * r + i + 1}};
    return a;
}

static Matrix product(int first, int last, int i)
{
    Matrix p = of(first, i);
    for (int r = first + 1; r <= last; r++) p = times(p, of(r, i));
    return p;
}

static void same(const Matrix *got, Matrix wanted)
{
    for (int k = 0; k < 4; k++) EQUAL(got->m[k], wanted.m[k]);
}

static void in_order(int count, MPI_Op op)
{
    Matrix *a = calloc(count + 1, sizeof *a), *b = calloc(count + 1, sizeof *a);
    Matrix *many = calloc((long)count * size + 1, sizeof *a);
    for (int i = 0; i < count; i++) a[i] = of(rank, i);
    for (int root = 0; root < size; root++) {
        memset(b, 0, count * sizeof *b);
        MPI_Reduce(a, b, count, matrix, op, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < count; i++) same(&b[i], product(0, size - 1, i));
        memcpy(b, a, count * sizeof *b);
        MPI_Reduce(rank == root ? MPI_IN_PLACE : a, b, count, matrix, op, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < count; i++) same(&b[i], product(0, size - 1, i));
    }
    MPI_Allreduce(a, b, count, matrix, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) same(&b[i], product(0, size - 1, i));
    memcpy(b, a, count * sizeof *b);
    MPI_Allreduce(MPI_IN_PLACE, b, count, matrix, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) same(&b[i], product(0, size - 1, i));
    MPI_Scan(a, b, count, matrix, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) same(&b[i], product(0, rank, i));
    MPI_Exscan(a, b, count, matrix, op, MPI_COMM_WORLD);
    for (int i = 0; rank > 0 && i < count; i++) same(&b[i], product(0, rank - 1, i));
    for (int i = 0; i < count * size; i++) many[i] = of(rank, i);
    MPI_Reduce_scatter_block(many, b, count, matrix, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) same(&b[i], product(0, size - 1, rank * count + i));
    int *lengths = malloc(size * sizeof(int)), before = 0, total = 0;
    for (int r = 0; r < size; r++) {
        lengths[r] = r % 2 ? count / 2 : count;
        if (r < rank) before += lengths[r];
        total += lengths[r];
    }
    CHECK(total <= count * size);
    MPI_Reduce_scatter(many, b, lengths, matrix, op, MPI_COMM_WORLD);
    for (int i = 0; i < lengths[rank]; i++) same(&b[i], product(0, size - 1, before + i));
    MPI_Request request;
    MPI_Iallreduce(a, b, count, matrix, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) same(&b[i], product(0, size - 1, i));
    if (count) {
        same(&a[0], of(rank, 0)); /* the send buffer is as it was */
        b[0] = of(5, 0);
        MPI_Reduce_local(a, b, 1, matrix, op);
        same(&b[0], times(of(rank, 0), of(5, 0)));
    }
    free(lengths);
    free(many);
    free(a);
    free(b);
}

/* A type with holes whose lower bound is not 0: the function gets pointers as a receive buffer would be. */
static MPI_Datatype spaced;

static void add_spaced(void *in, void *inout, int *length, MPI_Datatype *type)
{
    CHECK(*type == spaced);
    for (int i = 0; i < *length; i++)
        for (int k = 1; k < 3; k++) ((int *)inout)[6 * i + 2 * k] += ((int *)in)[6 * i + 2 * k];
}

static void with_holes(int count)
{
    MPI_Datatype pair;
    MPI_Op op;
    int displacements[2] = {2, 4};
    MPI_Type_create_indexed_block(2, 1, displacements, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 24, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Op_create(add_spaced, 1, &op);
    int flag;
    MPI_Op_commutative(op, &flag);
    CHECK(flag);
    int *a = malloc(6 * count * sizeof(int)), *b = malloc(6 * count * sizeof(int));
    for (int i = 0; i < 6 * count; i++) a[i] = i + rank, b[i] = -1;
    MPI_Allreduce(a, b, count, spaced, op, MPI_COMM_WORLD);
    for (int i = 0; i < 6 * count; i++) EQUAL(b[i], i % 6 == 2 || i % 6 == 4 ? i * size + size * (size - 1) / 2 : -1);
    memcpy(b, a, 6 * count * sizeof(int));
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : b, rank == 0 ? b : NULL, count, spaced, op, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 6 * count; i++)
        EQUAL(b[i], i % 6 == 2 || i % 6 == 4 ? i * size + size * (size - 1) / 2 : i);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Type_free(&pair);
    MPI_Type_free(&spaced);
    free(a);
    free(b);
}

int main(void)
{
    start();
    MPI_Op op, op_c;
    int flag;
    MPI_Type_contiguous(4, MPI_INT64_T, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &op);
    MPI_Op_commutative(op, &flag);
    CHECK(!flag);
    in_order(0, op);
    in_order(1, op);
    in_order(7, op);
    in_order(1500, op);
    CHECK(size == 1 || calls > 0);
    MPI_Op_create_c(multiply_c, 0, &op_c);
    Matrix a = of(rank, 3), b;
    MPI_Allreduce_c(&a, &b, 1, matrix, op_c, MPI_COMM_WORLD);
    same(&b, product(0, size - 1, 3));
    MPI_Op_free(&op_c);
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
    with_holes(1);
    with_holes(2000);
    return finish("user_operations");
}
