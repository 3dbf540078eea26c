/* MPI_PROC_NULL: every call succeeds at once, moves nothing, and says so in its status. */
#include "check.h"

static void nothing(const MPI_Status *status)
{
    int count = -1;
    EQUAL(status->MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(status->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(status, MPI_INT, &count);
    EQUAL(count, 0);
}

int main(void)
{
    start();
    int value = 42, room = 43, flag;
    MPI_Status status;
    MPI_Request requests[6];
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status);
    nothing(&status);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, &status);
    nothing(&status);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]);
    MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[1]);
    MPI_Ibsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[2]);
    MPI_Irsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[3]);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[4]);
    CHECK(requests[4] != MPI_REQUEST_NULL);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, &requests[5]);
    MPI_Test(&requests[5], &flag, &status);
    CHECK(flag);
    nothing(&status);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]);
    MPI_Wait(&requests[0], &status);
    nothing(&status);
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &room, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status);
    nothing(&status);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, comm, &status);
    nothing(&status);
    MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &status);
    nothing(&status);
    MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &flag, &status);
    CHECK(flag);
    nothing(&status);
    /* No element needs no datatype there. */
    MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm);
    MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &status);
    nothing(&status);
    MPI_Sendrecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm,
                 &status);
    nothing(&status);
    MPI_Sendrecv_replace(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, comm, &status);
    nothing(&status);
    MPI_Ssend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm);
    MPI_Bsend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm);
    MPI_Rsend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm);
    MPI_Isend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[0]);
    MPI_Issend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[1]);
    MPI_Ibsend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[2]);
    MPI_Irsend(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[3]);
    MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    MPI_Send_init(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[0]);
    MPI_Recv_init(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, comm, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EQUAL(value, 42);
    EQUAL(room, 43);
    MPI_Request persistent;
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &persistent);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&persistent);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &persistent);
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Request_free(&persistent);
    return finish("proc_null");
}
