/* Persistent requests in all modes: started, completed, started again, freed. */
#include "check.h"

typedef int Init(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static char pool[4 << 20]; /* all that is sent buffered: nobody says when a neighbour takes it */
static int next, previous;

static void every_mode(int n)
{
    static Init *const modes[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    int *out = malloc((n + 1) * sizeof(int)), *in = malloc((n + 1) * sizeof(int));
    for (int m = 0; m < 4; m++) {
        MPI_Request receive, send;
        MPI_Status status;
        MPI_Recv_init(in, n, MPI_INT, previous, m, MPI_COMM_WORLD, &receive);
        modes[m](out, n, MPI_INT, next, m, MPI_COMM_WORLD, &send);
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < n; i++) out[i] = i * round + rank, in[i] = -1;
            MPI_Start(&receive);
            if (m == 3) MPI_Barrier(MPI_COMM_WORLD); /* ready */
            MPI_Start(&send);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
            CHECK(send != MPI_REQUEST_NULL);
            MPI_Wait(&receive, &status);
            CHECK(receive != MPI_REQUEST_NULL);
            int count;
            MPI_Get_count(&status, MPI_INT, &count);
            EQUAL(count, n);
            EQUAL(status.MPI_SOURCE, previous);
            for (int i = 0; i < n; i++) EQUAL(in[i], i * round + previous);
        }
        MPI_Request_free(&receive);
        MPI_Request_free(&send);
        CHECK(receive == MPI_REQUEST_NULL && send == MPI_REQUEST_NULL);
    }
    free(out);
    free(in);
}

/* An inactive request completes at once, with an empty status. */
static void inactive(void)
{
    MPI_Request request;
    MPI_Status status;
    int value, flag = 0, index, count;
    MPI_Recv_init(&value, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, &request);
    status.MPI_SOURCE = 55;
    MPI_Wait(&request, &status);
    EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    MPI_Waitany(1, &request, &index, &status);
    EQUAL(index, MPI_UNDEFINED);
    MPI_Waitsome(1, &request, &count, &index, &status);
    EQUAL(count, MPI_UNDEFINED);
    flag = 0;
    MPI_Testany(1, &request, &index, &flag, &status);
    CHECK(flag);
    EQUAL(index, MPI_UNDEFINED);
    flag = 0;
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag);
    MPI_Request_free(&request);
}

static void started_together(void)
{
    enum { N = 20 };
    MPI_Request requests[2 * N];
    int in[N], out[N], index;
    for (int i = 0; i < N; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[2 * N - 1 - i]);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < N; i++) out[i] = round * 100 + i + rank;
        MPI_Startall(2 * N, requests);
        if (round % 2) {
            MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int i = 0; i < 2 * N; i++) MPI_Waitany(2 * N, requests, &index, MPI_STATUS_IGNORE);
            MPI_Waitany(2 * N, requests, &index, MPI_STATUS_IGNORE);
            EQUAL(index, MPI_UNDEFINED);
        }
        for (int i = 0; i < N; i++) EQUAL(in[i], round * 100 + i + previous);
    }
    for (int i = 0; i < 2 * N; i++) MPI_Request_free(&requests[i]);
}

/* Wildcards, a partner that is nobody, and a derived type that is freed before the start. */
static void odd_ones(void)
{
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Datatype every_other;
    int in[3] = {-1, -1, -1}, out[6];
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Recv_init(in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, every_other, next, 31, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&every_other);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++) out[i] = i + round;
        MPI_Startall(2, requests);
        MPI_Wait(&requests[0], &status);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        EQUAL(status.MPI_SOURCE, previous);
        EQUAL(status.MPI_TAG, 31);
        for (int i = 0; i < 3; i++) EQUAL(in[i], 2 * i + round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Recv_init(in, 3, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(in, 3, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], &status);
        EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Buffer_attach(pool, sizeof pool);
    every_mode(0);
    every_mode(1);
    every_mode(3000);
    every_mode(60000);
    inactive();
    started_together();
    odd_ones();
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
    return finish("persistent");
}
