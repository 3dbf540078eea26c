/* Buffers for buffered sends: attach, detach, flush, overflow, per communicator, automatic. */
#include "check.h"

enum { MESSAGE = 1000 };
static int next, previous;

static void detach_waits_for_the_messages(void)
{
    int bytes = 8 * (MESSAGE + MPI_BSEND_OVERHEAD), got;
    char *pool = malloc(bytes), data[MESSAGE];
    void *back = NULL;
    for (int round = 0; round < 3; round++) {
        MPI_Request requests[8];
        char in[8][MESSAGE];
        for (int k = 0; k < 8; k++) MPI_Irecv(in[k], MESSAGE, MPI_CHAR, previous, k, MPI_COMM_WORLD, &requests[k]);
        MPI_Buffer_attach(pool, bytes);
        for (int k = 0; k < 8; k++) {
            memset(data, k + round, MESSAGE);
            MPI_Bsend(data, MESSAGE, MPI_CHAR, next, k, MPI_COMM_WORLD);
        }
        MPI_Buffer_detach(&back, &got);
        CHECK(back == pool);
        EQUAL(got, bytes);
        memset(pool, 0x55, bytes);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < MESSAGE; i++) EQUAL(in[k][i], k + round);
    }
    free(pool);
}

/* What Pack_size says and the overhead is room enough, again and again. */
static void room_is_reused(void)
{
    int bytes, got, value;
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
    bytes = 4 * (bytes + MPI_BSEND_OVERHEAD);
    void *pool = malloc(bytes), *back;
    MPI_Buffer_attach(pool, bytes);
    for (int round = 0; round < 100; round++) {
        for (int k = 0; k < 4; k++) {
            value = round * 4 + k;
            MPI_Bsend(&value, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        }
        for (int k = 0; k < 4; k++) {
            MPI_Recv(&value, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(value, round * 4 + k);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&back, &got);
    CHECK(back == pool && got == bytes);
    free(pool);
}

static void too_little_room_is_an_error(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    char data[5000] = {0}, *pool = malloc(2000 + MPI_BSEND_OVERHEAD);
    void *back;
    int got;
    FAILS(MPI_Bsend(data, 100, MPI_CHAR, next, 1, comm), MPI_ERR_BUFFER);
    MPI_Buffer_attach(pool, 2000 + MPI_BSEND_OVERHEAD);
    FAILS(MPI_Bsend(data, 5000, MPI_CHAR, next, 1, comm), MPI_ERR_BUFFER);
    MPI_Buffer_detach(&back, &got);
    EQUAL(got, 2000 + MPI_BSEND_OVERHEAD);
    free(pool);
    MPI_Comm_free(&comm);
}

static void derived_types(void)
{
    int bytes = 1 << 16, got, out[30], in[10];
    void *pool = malloc(bytes), *back;
    MPI_Datatype every_third;
    MPI_Type_vector(10, 1, 3, MPI_INT, &every_third);
    MPI_Type_commit(&every_third);
    MPI_Buffer_attach(pool, bytes);
    for (int i = 0; i < 30; i++) out[i] = i + rank;
    MPI_Bsend(out, 1, every_third, next, 2, MPI_COMM_WORLD);
    memset(out, 0, sizeof out);
    MPI_Recv(in, 10, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10; i++) EQUAL(in[i], 3 * i + previous);
    MPI_Buffer_detach(&back, &got);
    MPI_Type_free(&every_third);
    free(pool);
}

/* MPI 4.1: a buffer of one communicator, flushing, and a buffer that the library finds itself. */
static void of_a_communicator(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int bytes = 1 << 16, got, value = rank + 3, in;
    void *pool = malloc(bytes), *back;
    MPI_Comm_attach_buffer(comm, pool, bytes);
    MPI_Bsend(&value, 1, MPI_INT, next, 2, comm);
    MPI_Recv(&in, 1, MPI_INT, previous, 2, comm, MPI_STATUS_IGNORE);
    EQUAL(in, previous + 3);
    MPI_Comm_flush_buffer(comm);
    MPI_Bsend(&value, 1, MPI_INT, next, 2, comm);
    MPI_Recv(&in, 1, MPI_INT, previous, 2, comm, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Comm_iflush_buffer(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(comm, &back, &got);
    CHECK(back == pool && got == bytes);
    free(pool);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    enum { N = 100000 };
    int *many = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++) many[i] = i + rank;
    MPI_Bsend(many, N, MPI_INT, next, 4, comm);
    memset(many, 0, N * sizeof(int));
    MPI_Recv(many, N, MPI_INT, previous, 4, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) EQUAL(many[i], i + previous);
    free(many);
    MPI_Comm_detach_buffer(comm, &back, &got);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    EQUAL(got, 0);
    MPI_Comm_free(&comm);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Bsend(&value, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &got);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    detach_waits_for_the_messages();
    room_is_reused();
    too_little_room_is_an_error();
    derived_types();
    of_a_communicator();
    return finish("buffered");
}
