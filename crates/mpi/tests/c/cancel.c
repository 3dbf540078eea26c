/* Cancelled receives never take a message, and cancelled sends never arrive; what has matched is not cancelled. */
#include "check.h"

static void a_receive_without_a_message(int source, int tag)
{
    MPI_Request request;
    MPI_Status status;
    int value = -5, flag = 0;
    MPI_Irecv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    CHECK(request == MPI_REQUEST_NULL);
    EQUAL(value, -5);
}

static void later_messages_go_to_later_receives(void)
{
    MPI_Request first, second, third;
    MPI_Status status;
    int a = -1, b = -1, c = -1, flag;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Irecv(&a, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &first);
    MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &second);
    MPI_Irecv(&c, 1, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, &third);
    MPI_Cancel(&first);
    MPI_Wait(&first, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Cancel(&second);
    flag = 0;
    while (!flag) MPI_Test(&second, &flag, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    MPI_Wait(&third, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    EQUAL(c, previous);
    EQUAL(status.MPI_TAG, 5);
    EQUAL(a, -1);
    EQUAL(b, -1);
}

static void a_matched_receive_is_not_cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int value = -1, flag;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Irecv(&value, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
    flag = 0;
    while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    EQUAL(value, previous);
}

static void a_persistent_receive_can_start_again(void)
{
    MPI_Request request;
    MPI_Status status;
    int value = -1, flag;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Recv_init(&value, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    MPI_Send(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    EQUAL(value, previous);
    MPI_Request_free(&request);
}

/* A send that no receive has met is cancelled. One whose data was taken over at once may be: see cancel_sends.c. */
static void sends(void)
{
    enum { MANY = 200000 };
    static char out[MANY], in[MANY];
    MPI_Request request;
    MPI_Status status;
    int flag, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int large = 0; large < 2; large++) {
        int count = large ? MANY : 4;
        memset(out, 1 + rank, MANY);
        MPI_Issend(out, count, MPI_CHAR, next, 30, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
        MPI_Send_init(out, count, MPI_CHAR, next, 31, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag || !large);
        if (!flag) MPI_Recv(in, count, MPI_CHAR, previous, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&request);
        MPI_Recv(in, count, MPI_CHAR, previous, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, &status);
        EQUAL(in[count - 1], 1 + previous);
        MPI_Request_free(&request);
    }
}

/* Cancelled receives in a Waitall beside others, and one that is freed. */
static void among_others(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int value[4], flag;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < 4; i++) MPI_Irecv(&value[i], 1, MPI_INT, previous, 20 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Cancel(&requests[1]);
    MPI_Cancel(&requests[3]);
    MPI_Request_free(&requests[3]);
    MPI_Send(&rank, 1, MPI_INT, next, 22, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, next, 20, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, statuses);
    for (int i = 0; i < 3; i++) {
        MPI_Test_cancelled(&statuses[i], &flag);
        EQUAL(flag, i == 1);
        if (i != 1) EQUAL(value[i], previous);
    }
}

int main(void)
{
    start();
    a_receive_without_a_message(0, 3);
    a_receive_without_a_message(MPI_ANY_SOURCE, 3);
    a_receive_without_a_message(size - 1, MPI_ANY_TAG);
    a_receive_without_a_message(MPI_ANY_SOURCE, MPI_ANY_TAG);
    later_messages_go_to_later_receives();
    a_matched_receive_is_not_cancelled();
    a_persistent_receive_can_start_again();
    MPI_Barrier(MPI_COMM_WORLD);
    among_others();
    sends();
    return finish("cancel");
}
