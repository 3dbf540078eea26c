/* Requests of every kind freed while they are active: what they started still happens, and nothing is left at the
 * end. */
#include "check.h"

enum { SMALL = 4, LARGE = 300000 };
static int next, previous;

/* Moves messages until every int of a buffer is what it should be: of a freed receive, nothing else tells. */
static void until(const volatile int *data, int n, int wanted)
{
    int flag;
    for (int i = 0; i < n; i++)
        while (data[i] != wanted) MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static int *filled(int n, int value)
{
    int *data = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) data[i] = value;
    return data;
}

static void sends_and_receives(int n)
{
    int *out = filled(n, rank), *in = filled(n, -1);
    MPI_Request send, receive;
    MPI_Irecv(in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &receive);
    MPI_Isend(out, n, MPI_INT, next, 1, MPI_COMM_WORLD, &send);
    MPI_Request_free(&receive);
    MPI_Request_free(&send);
    CHECK(send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL);
    until(in, n, previous);
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

static void persistent(int n)
{
    int *out = filled(n, rank), *in = filled(n, -1);
    MPI_Request pair[2];
    MPI_Recv_init(in, n, MPI_INT, previous, 2, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(out, n, MPI_INT, next, 2, MPI_COMM_WORLD, &pair[1]);
    MPI_Startall(2, pair);
    MPI_Request_free(&pair[1]);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    EQUAL(in[n - 1], previous);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) in[i] = -1;
    MPI_Start(&pair[0]);
    MPI_Request_free(&pair[0]);
    MPI_Send(out, n, MPI_INT, next, 2, MPI_COMM_WORLD);
    until(in, n, previous);
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

static void exchanges(int n)
{
    int *out = filled(n, rank), *in = filled(n, -1);
    MPI_Request request;
    MPI_Isendrecv(out, n, MPI_INT, next, 3, in, n, MPI_INT, previous, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    until(in, n, previous);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) in[i] = rank + 100;
    MPI_Isendrecv_replace(in, n, MPI_INT, next, 4, previous, 4, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    until(in, n, previous + 100);
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

static int queried, released;

static int query(void *none, MPI_Status *status)
{
    (void)none;
    queried++;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *none)
{
    (void)none;
    released++;
    return MPI_SUCCESS;
}

static int cancel(void *none, int complete)
{
    (void)none;
    (void)complete;
    return MPI_SUCCESS;
}

/* Its free function is called once it is both complete and freed, in whichever order. */
static void generalized(void)
{
    MPI_Request request, same;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    same = request;
    MPI_Request_free(&request);
    EQUAL(released, 0);
    MPI_Grequest_complete(same);
    EQUAL(released, 1);
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    EQUAL(released, 1);
    MPI_Request_free(&request);
    EQUAL(released, 2);
    EQUAL(queried, 0);
}

static void what_is_no_request(void)
{
    MPI_Request null = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    FAILS(MPI_Request_free(&null), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&null), MPI_ERR_REQUEST);
    FAILS(MPI_Start(&null), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    sends_and_receives(SMALL);
    sends_and_receives(LARGE);
    persistent(SMALL);
    persistent(LARGE);
    exchanges(SMALL);
    exchanges(LARGE);
    generalized();
    what_is_no_request();
    return finish("freed_requests");
}
