/* A send that no receive has met is cancelled though its data was taken over at once: small ones, persistent and
 * buffered ones. */
#include "check.h"

static void a_persistent_send_can_start_again(void)
{
    char out = 1 + rank, in = 0;
    MPI_Request request;
    MPI_Status status;
    int flag, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Send_init(&out, 1, MPI_CHAR, next, 31, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    MPI_Recv(&in, 1, MPI_CHAR, previous, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, &status);
    EQUAL(in, 1 + previous);
    MPI_Request_free(&request);
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

int main(void)
{
    start();
    a_persistent_send_can_start_again();
    small_sends();
    buffered_sends();
    return finish("cancel_sends");
}
