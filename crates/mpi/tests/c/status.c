/* Status objects set and read by the program; generalized requests. */
#include "check.h"

static void set_and_get(void)
{
    MPI_Status status;
    MPI_Datatype pair;
    int count, flag;
    MPI_Count large;
    memset(&status, 0, sizeof status);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Status_set_elements(&status, MPI_INT, 7);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 7);
    MPI_Get_elements(&status, MPI_INT, &count);
    EQUAL(count, 7);
    MPI_Get_count(&status, pair, &count);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Status_set_elements(&status, pair, 3);
    MPI_Get_elements(&status, pair, &count);
    EQUAL(count, 3);
    MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)1 << 33);
    MPI_Get_elements_x(&status, MPI_BYTE, &large);
    EQUAL(large, (MPI_Count)1 << 33);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, MPI_UNDEFINED);
    MPI_Get_count_c(&status, MPI_BYTE, &large);
    EQUAL(large, (MPI_Count)1 << 33);
    MPI_Status_set_elements_c(&status, MPI_INT, 11);
    MPI_Get_elements_c(&status, MPI_INT, &large);
    EQUAL(large, 11);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 11);
    MPI_Type_free(&pair);
}

/* MPI 4.1: the public fields through functions. */
static void fields(void)
{
    MPI_Status status;
    int value;
    memset(&status, 0, sizeof status);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_set_error(&status, MPI_ERR_TAG);
    EQUAL(status.MPI_SOURCE, 3);
    EQUAL(status.MPI_TAG, 4);
    EQUAL(status.MPI_ERROR, MPI_ERR_TAG);
    MPI_Status_get_source(&status, &value);
    EQUAL(value, 3);
    MPI_Status_get_tag(&status, &value);
    EQUAL(value, 4);
    MPI_Status_get_error(&status, &value);
    EQUAL(value, MPI_ERR_TAG);
}

static int queried, freed, cancelled;

static int query(void *state, MPI_Status *status)
{
    queried++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 77;
    status->MPI_TAG = 78;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    freed++;
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    cancelled += complete ? 100 : 1;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int states[3] = {5, 6, 7}, flag, count, index;
    MPI_Request requests[3];
    MPI_Status status, statuses[3];
    for (int i = 0; i < 3; i++) MPI_Grequest_start(query, release, cancel, &states[i], &requests[i]);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(!flag);
    MPI_Cancel(&requests[0]);
    EQUAL(cancelled, 1);
    MPI_Grequest_complete(requests[0]);
    MPI_Cancel(&requests[0]);
    EQUAL(cancelled, 101);
    MPI_Wait(&requests[0], &status);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    EQUAL(queried, 1);
    EQUAL(freed, 1);
    EQUAL(states[0], -1);
    EQUAL(status.MPI_SOURCE, 77);
    EQUAL(status.MPI_TAG, 78);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 5);
    MPI_Grequest_complete(requests[2]);
    MPI_Waitany(3, requests, &index, &status);
    EQUAL(index, 2);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 7);
    MPI_Testall(3, requests, &flag, statuses);
    CHECK(!flag);
    MPI_Grequest_complete(requests[1]);
    MPI_Waitall(3, requests, statuses);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    EQUAL(count, 6);
    EQUAL(freed, 3);
    /* freed before it is complete: the free callback comes with the completion */
    MPI_Request request, copy;
    int state = 9;
    MPI_Grequest_start(query, release, cancel, &state, &request);
    copy = request;
    MPI_Request_free(&request);
    EQUAL(freed, 3);
    MPI_Grequest_complete(copy);
    EQUAL(freed, 4);
}

int main(void)
{
    start();
    set_and_get();
    fields();
    generalized();
    return finish("status");
}
