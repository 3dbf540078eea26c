/* User code that MPI calls may call MPI: error handlers, attribute callbacks, operations, generalized requests. */
#include "check.h"

static int calls;

static void ring(MPI_Comm comm)
{
    int n, me, in = -1;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 40, &in, 1, MPI_INT, (me + n - 1) % n, 40, comm, MPI_STATUS_IGNORE);
    EQUAL(in, (me + n - 1) % n);
    calls++;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(*code, &class);
    EQUAL(class, MPI_ERR_TAG);
    MPI_Error_string(*code, text, &length);
    ring(*comm);
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    ring(comm);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    ring(comm);
    return MPI_SUCCESS;
}

/* Adds, after asking MPI about the type, and talking to itself. */
static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int bytes, word = 5, got = 0;
    MPI_Aint lb, extent;
    MPI_Type_size(*type, &bytes);
    MPI_Type_get_extent(*type, &lb, &extent);
    EQUAL(bytes, 4);
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    EQUAL(got, 5);
    for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
    calls++;
}

static int query(void *state, MPI_Status *status)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    calls++;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    MPI_Initialized(&calls);
    calls = 1000;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

int main(void)
{
    start();
    MPI_Comm comm, dup;
    MPI_Errhandler eh;
    MPI_Op op;
    int key, value = rank, sum, n = 3, count;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &eh);
    MPI_Comm_set_errhandler(comm, eh);
    MPI_Errhandler_free(&eh);
    MPI_Send(&value, 1, MPI_INT, 0, -5, comm);
    EQUAL(calls, 1);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_dup(comm, &dup);
    EQUAL(calls, 2);
    MPI_Comm_free(&dup);
    EQUAL(calls, 3);
    MPI_Comm_delete_attr(comm, key);
    EQUAL(calls, 4);
    MPI_Comm_free_keyval(&key);
    MPI_Op_create(add, 1, &op);
    calls = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, comm);
    EQUAL(sum, size * (size - 1) / 2);
    MPI_Request request;
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, op, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(sum, size * (size - 1) / 2);
    MPI_Scan(&value, &sum, 1, MPI_INT, op, comm);
    EQUAL(sum, rank * (rank + 1) / 2);
    CHECK(size == 1 || calls > 0);
    MPI_Op_free(&op);
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &n, &request);
    MPI_Grequest_complete(request);
    calls = 0;
    MPI_Wait(&request, &status);
    EQUAL(calls, 1000);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, 3);
    MPI_Comm_free(&comm);
    return finish("callbacks");
}
