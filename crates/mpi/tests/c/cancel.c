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

/* A send that no receive has met is cancelled, of whatever size. */
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
        CHECK(flag);
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

/* A buffered send that waits for its receive. */
static void buffered_sends(void)
{
    enum { MANY = 200000 };
    static char out[MANY], attached[MANY + MPI_BSEND_OVERHEAD];
    MPI_Request request;
    MPI_Status status;
    int flag, bytes, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    void *address;
    MPI_Buffer_attach(attached, sizeof attached);
    for (int again = 0; again < 2; again++) {
        MPI_Bsend_init(out, MANY, MPI_CHAR, next, 50, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
        MPI_Request_free(&request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iprobe(previous, 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        /* Its room is free again. */
        MPI_Ibsend(out, MANY, MPI_CHAR, next, 51, MPI_COMM_WORLD, &request);
        MPI_Recv(out, MANY, MPI_CHAR, previous, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag);
    }
    MPI_Buffer_detach(&address, &bytes);
}

/* Of several small sends the one in the middle is cancelled, in whatever way it is waited for. */
static void small_sends(void)
{
    enum { SENDS = 5, MIDDLE = 2 };
    static char attached[10000];
    MPI_Request requests[SENDS];
    MPI_Status statuses[SENDS];
    int flag, value, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Buffer_attach(attached, sizeof attached);
    for (int way = 0; way < 6; way++) {
        for (int i = 0; i < SENDS; i++) {
            value = 10 * rank + i;
            if (way == 5) MPI_Ibsend(&value, 1, MPI_INT, next, 40, MPI_COMM_WORLD, &requests[i]);
            else MPI_Isend(&value, 1, MPI_INT, next, 40, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Cancel(&requests[MIDDLE]);
        MPI_Request copy = requests[MIDDLE];
        if (way == 0) {
            MPI_Waitall(SENDS, requests, statuses);
        } else {
            for (int i = 0; i < SENDS; i++) {
                flag = 0;
                if (i != MIDDLE || way == 2) MPI_Wait(&requests[i], &statuses[i]);
                else if (way == 1) while (!flag) MPI_Test(&requests[i], &flag, &statuses[i]);
                else if (way == 3) while (!flag) MPI_Request_get_status(copy, &flag, &statuses[i]);
                else MPI_Waitany(1, &copy, &flag, &statuses[i]);
            }
            if (way == 3) MPI_Wait(&requests[MIDDLE], MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < SENDS; i++) {
            MPI_Test_cancelled(&statuses[i], &flag);
            EQUAL(flag, i == MIDDLE);
            if (i == MIDDLE) continue;
            MPI_Recv(&value, 1, MPI_INT, previous, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(value, 10 * previous + i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    void *address;
    int bytes;
    MPI_Buffer_detach(&address, &bytes);
    /* One that has arrived is not cancelled. */
    MPI_Isend(&rank, 1, MPI_INT, next, 41, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(&value, 1, MPI_INT, previous, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &flag);
    CHECK(!flag);
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
    small_sends();
    buffered_sends();
    return finish("cancel");
}
