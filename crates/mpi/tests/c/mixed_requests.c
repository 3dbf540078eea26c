/* Requests of all kinds in one array: messages, persistent ones active and inactive, collectives, generalized, null
 * ones. */
#include "check.h"

enum { N = 9 };
static int next, previous, sum, in[3], word;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    ++*(int *)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static int released;
static MPI_Request inactive, repeated;

static void begin(MPI_Request *r, int round)
{
    static int value;
    value = rank + round;
    in[0] = in[1] = in[2] = sum = -1;
    word = round;
    r[0] = MPI_REQUEST_NULL;
    MPI_Irecv(&in[0], 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&value, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &r[2]);
    r[3] = inactive;
    MPI_Start(&repeated);
    r[4] = repeated;
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[5]);
    MPI_Grequest_start(query, release, cancel, &released, &r[6]);
    MPI_Irecv(&in[2], 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[7]);
    MPI_Issend(&value, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &r[8]);
    MPI_Grequest_complete(r[6]);
}

static void ended(const MPI_Request *r, int round)
{
    EQUAL(in[0], previous + round);
    EQUAL(in[1], previous + round);
    EQUAL(sum, size * (size - 1) / 2 + size * round);
    EQUAL(released, round + 1);
    for (int i = 0; i < N; i++) CHECK((r[i] == MPI_REQUEST_NULL) == (i != 3 && i != 4));
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Request r[N];
    MPI_Status statuses[N];
    int flag, index, count, indices[N];
    MPI_Recv_init(&word, 1, MPI_INT, previous, 99, MPI_COMM_WORLD, &inactive);
    MPI_Recv_init(&in[1], 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &repeated);
    int round = 0;
    begin(r, round);
    MPI_Waitall(N, r, statuses);
    ended(r, round++);
    EQUAL(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
    EQUAL(statuses[1].MPI_SOURCE, previous);
    EQUAL(statuses[3].MPI_SOURCE, MPI_ANY_SOURCE);
    EQUAL(statuses[4].MPI_TAG, 2);
    EQUAL(statuses[7].MPI_SOURCE, MPI_PROC_NULL);
    begin(r, round);
    flag = 0;
    while (!flag) MPI_Testall(N, r, &flag, statuses);
    ended(r, round++);
    begin(r, round);
    for (int left = 7; left > 0; left--) {
        MPI_Waitany(N, r, &index, &statuses[0]);
        CHECK(index > 0 && index != 3);
    }
    MPI_Waitany(N, r, &index, &statuses[0]);
    EQUAL(index, MPI_UNDEFINED);
    ended(r, round++);
    begin(r, round);
    for (int left = 7; left > 0; left -= count) MPI_Waitsome(N, r, &count, indices, statuses);
    MPI_Testsome(N, r, &count, indices, statuses);
    EQUAL(count, MPI_UNDEFINED);
    ended(r, round++);
    begin(r, round);
    for (int i = N - 1; i >= 0; i--) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    ended(r, round++);
    MPI_Request_free(&inactive);
    MPI_Request_free(&repeated);
    return finish("mixed_requests");
}
