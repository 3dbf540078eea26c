/* Error handlers, codes, classes and strings; what wrong arguments give. */
#include "check.h"

static int handled, handled_code;
static MPI_Comm handled_on;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handled++;
    handled_code = *code;
    handled_on = *comm;
}

static void codes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    static const int classes[] = {MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM,
                                  MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP,
                                  MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE,
                                  MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_IN_STATUS, MPI_ERR_PENDING, MPI_ERR_KEYVAL,
                                  MPI_ERR_NO_MEM, MPI_ERR_INFO, MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE,
                                  MPI_ERR_INFO_NOKEY, MPI_ERR_UNSUPPORTED_OPERATION};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        MPI_Error_class(classes[i], &class);
        EQUAL(class, classes[i]);
        length = -1;
        MPI_Error_string(classes[i], text, &length);
        CHECK(length > 0 && length < MPI_MAX_ERROR_STRING && (int)strlen(text) == length);
    }
    CHECK(MPI_SUCCESS == 0);
}

/* User classes and codes; removed again (MPI 4.1). */
static void added(void)
{
    int class, code, got, *last, flag, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    CHECK(class > MPI_ERR_LASTCODE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last >= class);
    MPI_Add_error_code(class, &code);
    MPI_Error_class(code, &got);
    EQUAL(got, class);
    MPI_Add_error_string(class, "a class of ours");
    MPI_Add_error_string(code, "a code of ours");
    MPI_Error_string(class, text, &length);
    CHECK(!strcmp(text, "a class of ours") && length == 15);
    MPI_Error_string(code, text, &length);
    CHECK(!strcmp(text, "a code of ours"));
    handled = 0;
    MPI_Errhandler eh;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &eh);
    MPI_Comm_set_errhandler(comm, eh);
    EQUAL(MPI_Comm_call_errhandler(comm, code), MPI_SUCCESS);
    EQUAL(handled, 1);
    EQUAL(handled_code, code);
    CHECK(handled_on == comm);
    MPI_Errhandler_free(&eh);
    MPI_Comm_free(&comm);
    MPI_Remove_error_string(code);
    MPI_Remove_error_string(class);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

static void handlers(void)
{
    MPI_Errhandler eh, got;
    MPI_Comm comm, dup;
    int value = 0;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    CHECK(got == MPI_ERRHANDLER_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &eh);
    MPI_Comm_set_errhandler(comm, eh);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == eh);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&eh);
    CHECK(eh == MPI_ERRHANDLER_NULL);
    /* the handler outlives its handle, and a copy of the communicator has it */
    MPI_Comm_dup(comm, &dup);
    handled = 0;
    int code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, dup);
    EQUAL(handled, 1);
    CHECK(handled_on == dup);
    EQUAL(handled_code, code);
    int class;
    MPI_Error_class(code, &class);
    EQUAL(class, MPI_ERR_RANK);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&comm);
}

static MPI_Comm comm;

static void arguments(void)
{
    int value[4] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Datatype type;
    FAILS(MPI_Send(value, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    FAILS(MPI_Send(value, 1, MPI_INT, -7, 0, comm), MPI_ERR_RANK);
    FAILS(MPI_Send(value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK);
    FAILS(MPI_Recv(value, 1, MPI_INT, size, 0, comm, &status), MPI_ERR_RANK);
    FAILS(MPI_Send(value, 1, MPI_INT, 0, -1, comm), MPI_ERR_TAG);
    FAILS(MPI_Send(value, 1, MPI_INT, 0, MPI_ANY_TAG, comm), MPI_ERR_TAG);
    FAILS(MPI_Recv(value, 1, MPI_INT, 0, -99, comm, &status), MPI_ERR_TAG);
    FAILS(MPI_Send(value, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    FAILS(MPI_Isend(value, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request), MPI_ERR_TYPE);
    MPI_Type_contiguous(2, MPI_INT, &type);
    FAILS(MPI_Send(value, 1, type, 0, 0, comm), MPI_ERR_TYPE); /* not committed */
    MPI_Type_free(&type);
    FAILS(MPI_Irecv(NULL, 3, MPI_INT, 0, 0, comm, &request), MPI_ERR_BUFFER);
    FAILS(MPI_Bcast(value, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(value, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    FAILS(MPI_Reduce(value, value + 1, 1, MPI_INT, MPI_OP_NULL, 0, comm), MPI_ERR_OP);
    FAILS(MPI_Allreduce(value, value + 1, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
    FAILS(MPI_Comm_rank(comm, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_coords(comm, 0, 1, value), MPI_ERR_TOPOLOGY);
}

/* These have no communicator of their own: the error is raised on MPI_COMM_SELF (MPI 4.0) where it was on
 * MPI_COMM_WORLD. */
static void without_a_communicator(void)
{
    int value = 0, n;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm null = MPI_COMM_NULL;
    MPI_Datatype type;
    FAILS(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    FAILS(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Comm_free(&null), MPI_ERR_COMM);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    FAILS(MPI_Type_size(MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
    FAILS(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    FAILS(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), MPI_ERR_INFO);
    FAILS(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    MPI_Group world, group;
    MPI_Comm_group(comm, &world);
    int bad[2] = {0, size};
    FAILS(MPI_Group_incl(world, 2, bad, &group), MPI_ERR_RANK);
    bad[1] = 0;
    FAILS(MPI_Group_incl(world, 2, bad, &group), MPI_ERR_RANK);
    MPI_Group_free(&world);
    MPI_Op op = MPI_SUM;
    CHECK(MPI_Op_free(&op) != MPI_SUCCESS);
    type = MPI_INT;
    CHECK(MPI_Type_free(&type) != MPI_SUCCESS);
    FAILS(MPI_Error_class(-12345, &n), MPI_ERR_ARG);
}

static void truncation(int n)
{
    int *data = calloc(n, sizeof(int)), flag;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < n; i++) data[i] = 5;
    /* blocking */
    int *room = calloc(n, sizeof(int));
    MPI_Isend(data, n, MPI_INT, next, 1, comm, &requests[1]);
    FAILS(MPI_Recv(room, n - 1, MPI_INT, previous, 1, comm, &statuses[0]), MPI_ERR_TRUNCATE);
    EQUAL(room[n - 1], 0);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    /* one of two: MPI_ERR_IN_STATUS, and the status says which */
    MPI_Irecv(room, n / 2, MPI_INT, previous, 2, comm, &requests[0]);
    MPI_Irecv(&flag, 1, MPI_INT, previous, 3, comm, &requests[1]);
    MPI_Request sends[2];
    MPI_Isend(data, n, MPI_INT, next, 2, comm, &sends[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 3, comm, &sends[1]);
    FAILS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    int class;
    MPI_Error_class(statuses[0].MPI_ERROR, &class);
    EQUAL(class, MPI_ERR_TRUNCATE);
    if (statuses[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    else EQUAL(statuses[1].MPI_ERROR, MPI_SUCCESS);
    EQUAL(flag, previous);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    free(data);
    free(room);
    MPI_Barrier(comm);
}

int main(void)
{
    start();
    codes();
    added();
    handlers();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    arguments();
    /* of calls on several requests, or on none of a communicator */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    truncation(4);
    truncation(2000);
    truncation(200000);
    without_a_communicator();
    /* the communicator still works */
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    EQUAL(sum, size * (size - 1) / 2);
    MPI_Comm_free(&comm);
    return finish("errors");
}
