/* Wait and test, for one, any, some and all; request status without completing it; freed requests. */
#include "check.h"

enum { N = 50 };
static int in[N], out[N];
static MPI_Request requests[2 * N];
static MPI_Status statuses[2 * N];

static int next, previous;

static void post(void)
{
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        out[i] = 1000 * rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < N; i++)
        MPI_Isend(&out[N - 1 - i], 1, MPI_INT, next, N - 1 - i, MPI_COMM_WORLD, &requests[N + i]);
}

static void received(void)
{
    for (int i = 0; i < N; i++) EQUAL(in[i], 1000 * previous + i);
    for (int i = 0; i < 2 * N; i++) CHECK(requests[i] == MPI_REQUEST_NULL);
}

static void status_of_receive(const MPI_Status *status, int i)
{
    int count;
    EQUAL(status->MPI_SOURCE, previous);
    EQUAL(status->MPI_TAG, i);
    MPI_Get_count(status, MPI_INT, &count);
    EQUAL(count, 1);
}

static void empty(const MPI_Status *status)
{
    int count = -7, flag = 1;
    EQUAL(status->MPI_SOURCE, MPI_ANY_SOURCE);
    EQUAL(status->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(status, MPI_INT, &count);
    EQUAL(count, 0);
    MPI_Test_cancelled(status, &flag);
    CHECK(!flag);
}

static void one(void)
{
    post();
    for (int i = 0; i < N; i += 2) {
        MPI_Wait(&requests[i], &statuses[i]);
        status_of_receive(&statuses[i], i);
    }
    for (int i = 1; i < N; i += 2) {
        int flag = 0;
        while (!flag) MPI_Test(&requests[i], &flag, &statuses[i]);
        status_of_receive(&statuses[i], i);
    }
    for (int i = N; i < 2 * N; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    received();
    MPI_Request null = MPI_REQUEST_NULL;
    MPI_Wait(&null, &statuses[0]);
    empty(&statuses[0]);
    int flag = 0;
    MPI_Test(&null, &flag, &statuses[0]);
    CHECK(flag);
    empty(&statuses[0]);
}

static void all(void)
{
    post();
    MPI_Waitall(2 * N, requests, statuses);
    received();
    for (int i = 0; i < N; i++) status_of_receive(&statuses[i], i);
    MPI_Waitall(2 * N, requests, statuses);
    for (int i = 0; i < 2 * N; i++) empty(&statuses[i]);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    post();
    int flag = 0;
    while (!flag) {
        MPI_Testall(2 * N, requests, &flag, statuses);
        for (int i = 0; !flag && i < 2 * N; i++) CHECK(requests[i] != MPI_REQUEST_NULL); /* all or none */
    }
    received();
    for (int i = 0; i < N; i++) status_of_receive(&statuses[i], i);
    MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static void any(void)
{
    post();
    int seen[2 * N] = {0}, index, flag;
    for (int k = 0; k < 2 * N; k++) {
        if (k % 2) {
            MPI_Waitany(2 * N, requests, &index, &statuses[0]);
        } else {
            flag = 0;
            while (!flag) {
                MPI_Testany(2 * N, requests, &index, &flag, &statuses[0]);
                if (!flag) EQUAL(index, MPI_UNDEFINED);
            }
        }
        CHECK(index >= 0 && index < 2 * N && !seen[index]);
        seen[index] = 1;
        CHECK(requests[index] == MPI_REQUEST_NULL);
        if (index < N) status_of_receive(&statuses[0], index);
    }
    received();
    MPI_Waitany(2 * N, requests, &index, &statuses[0]);
    EQUAL(index, MPI_UNDEFINED);
    empty(&statuses[0]);
    flag = 0;
    MPI_Testany(2 * N, requests, &index, &flag, &statuses[0]);
    CHECK(flag);
    EQUAL(index, MPI_UNDEFINED);
    empty(&statuses[0]);
    MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
    EQUAL(index, MPI_UNDEFINED);
}

static void some(void)
{
    post();
    int seen[2 * N] = {0}, indices[2 * N], count, total = 0, round = 0;
    while (total < 2 * N) {
        if (round++ % 2)
            MPI_Waitsome(2 * N, requests, &count, indices, statuses);
        else
            MPI_Testsome(2 * N, requests, &count, indices, statuses);
        CHECK(round % 2 == 1 || count > 0);
        for (int k = 0; k < count; k++) {
            CHECK(!seen[indices[k]]);
            seen[indices[k]] = 1;
            if (indices[k] < N) status_of_receive(&statuses[k], indices[k]);
        }
        total += count;
    }
    received();
    MPI_Waitsome(2 * N, requests, &count, indices, statuses);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Testsome(2 * N, requests, &count, indices, statuses);
    EQUAL(count, MPI_UNDEFINED);
}

static void get_status(void)
{
    MPI_Request request;
    MPI_Status status;
    int value = -1, flag = 0;
    MPI_Irecv(&value, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, &request);
    if (size > 1) {
        MPI_Request_get_status(request, &flag, &status);
        CHECK(!flag);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    while (!flag) MPI_Request_get_status(request, &flag, &status);
    EQUAL(status.MPI_SOURCE, previous);
    EQUAL(value, previous);
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    MPI_Wait(&request, &status);
    EQUAL(status.MPI_TAG, 3);
    CHECK(request == MPI_REQUEST_NULL);
    flag = 0;
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
    CHECK(flag);
    empty(&status);
}

/* MPI 4.1: status of any, some and all requests without freeing them. */
static void get_status_of_many(void)
{
    int flag = 0, index, count, indices[2 * N];
    post();
    while (!flag) MPI_Request_get_status_all(2 * N, requests, &flag, statuses);
    for (int i = 0; i < N; i++) status_of_receive(&statuses[i], i);
    MPI_Request_get_status_any(2 * N, requests, &index, &flag, &statuses[0]);
    CHECK(flag && index >= 0 && index < 2 * N);
    if (index < N) status_of_receive(&statuses[0], index);
    MPI_Request_get_status_some(2 * N, requests, &count, indices, statuses);
    EQUAL(count, 2 * N);
    for (int i = 0; i < 2 * N; i++) CHECK(requests[i] != MPI_REQUEST_NULL);
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    received();
    MPI_Request_get_status_all(2 * N, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    MPI_Request_get_status_any(2 * N, requests, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    EQUAL(index, MPI_UNDEFINED);
    MPI_Request_get_status_some(2 * N, requests, &count, indices, MPI_STATUSES_IGNORE);
    EQUAL(count, MPI_UNDEFINED);
}

/* A freed request's operation still completes. */
static void freed(void)
{
    static int big[100000];
    MPI_Request request;
    for (int i = 0; i < 100000; i++) big[i] = i ^ rank;
    MPI_Isend(big, 100000, MPI_INT, next, 4, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    int *room = malloc(sizeof big);
    MPI_Recv(room, 100000, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100000; i++) EQUAL(room[i], i ^ previous);
    free(room);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    one();
    all();
    any();
    some();
    get_status();
    get_status_of_many();
    freed();
    return finish("completion");
}
