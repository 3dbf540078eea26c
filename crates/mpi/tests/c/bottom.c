/* MPI_BOTTOM with absolute addresses; buffers that begin before or after their data; zero-sized parts. */
#include <stddef.h>
#include "check.h"

typedef struct { int n; double x[3]; char c; } Record;

/* Members of several variables in one message, by their addresses. */
static MPI_Datatype absolute(Record *r, int *extra)
{
    MPI_Aint places[4];
    int lengths[4] = {1, 3, 1, 2};
    MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_INT}, type;
    MPI_Get_address(&r->n, &places[0]);
    MPI_Get_address(r->x, &places[1]);
    MPI_Get_address(&r->c, &places[2]);
    MPI_Get_address(extra, &places[3]);
    MPI_Type_create_struct(4, lengths, places, types, &type);
    MPI_Type_commit(&type);
    return type;
}

static void messages(void)
{
    Record out = {rank, {rank + .5, rank + .25, rank + .125}, 'a'}, in = {-1, {0, 0, 0}, 0};
    int extra[2] = {rank * 7, rank * 9}, got[2] = {-1, -1}, previous = (rank + size - 1) % size, count;
    MPI_Datatype from = absolute(&out, extra), to = absolute(&in, got);
    MPI_Status status;
    MPI_Sendrecv(MPI_BOTTOM, 1, from, (rank + 1) % size, 1, MPI_BOTTOM, 1, to, previous, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, to, &count);
    EQUAL(count, 1);
    CHECK(in.n == previous && in.x[0] == previous + .5 && in.x[2] == previous + .125 && in.c == 'a');
    CHECK(got[0] == previous * 7 && got[1] == previous * 9);
    /* collectives take it too */
    if (rank == 0) out.n = 99, extra[1] = 98;
    MPI_Bcast(MPI_BOTTOM, 1, from, 0, MPI_COMM_WORLD);
    CHECK(out.n == 99 && extra[1] == 98 && out.x[1] == .25);
    /* packed from absolute addresses */
    char buffer[200];
    int position = 0, back = 0;
    MPI_Pack(MPI_BOTTOM, 1, from, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    EQUAL(position, 4 + 24 + 1 + 8);
    in.n = 0;
    MPI_Unpack(buffer, position, &back, MPI_BOTTOM, 1, to, MPI_COMM_WORLD);
    EQUAL(in.n, 99);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

/* The data begins before the buffer's address, or far behind it. */
static void shifted(void)
{
    int data[100], next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Datatype before, behind;
    int one = 10, minus = -50, plus = 40;
    MPI_Type_indexed(1, &one, &minus, MPI_INT, &before);
    MPI_Type_indexed(1, &one, &plus, MPI_INT, &behind);
    MPI_Type_commit(&before);
    MPI_Type_commit(&behind);
    for (int i = 0; i < 100; i++) data[i] = i + rank * 1000;
    MPI_Sendrecv(data + 50, 1, before, next, 2, data, 1, behind, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++) EQUAL(data[i], i >= 40 && i < 50 ? i - 40 + previous * 1000 : i + rank * 1000);
    MPI_Type_free(&before);
    MPI_Type_free(&behind);
}

/* Types of size 0 and counts of 0 move nothing and may have no buffer. */
static void nothing(void)
{
    MPI_Datatype empty, partly;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    int zero[3] = {0, 2, 0}, places[3] = {5, 0, 9}, next = (rank + 1) % size, previous = (rank + size - 1) % size,
        count;
    MPI_Type_indexed(3, zero, places, MPI_INT, &partly);
    MPI_Type_commit(&partly);
    MPI_Status status;
    MPI_Sendrecv(NULL, 5, empty, next, 3, NULL, 7, empty, previous, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, empty, &count);
    EQUAL(count, 0);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 0);
    int out[2] = {rank, 6}, in[2] = {0, 0};
    MPI_Sendrecv(out, 1, partly, next, 4, in, 2, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == previous && in[1] == 6);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(NULL, 0, MPI_INT, size - 1, MPI_COMM_WORLD);
    MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&empty);
    MPI_Type_free(&partly);
}

int main(void)
{
    start();
    messages();
    shifted();
    nothing();
    return finish("bottom");
}
