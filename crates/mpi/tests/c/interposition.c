/* Profiling: a program's own MPI_Send takes the library's place and reaches it as PMPI_Send; the library never calls
 * MPI_ names itself. */
#include "check.h"

static int sends, receives, barriers, level_seen = -1;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    receives++;
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    sends++;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Pcontrol(const int level, ...)
{
    level_seen = level;
    return MPI_SUCCESS;
}

int main(void)
{
    start();
    int value = rank, in, sum;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EQUAL(in, (rank + size - 1) % size);
    EQUAL(sends, 1);
    EQUAL(receives, 1);
    MPI_Sendrecv(&value, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    EQUAL(sends, 1);
    EQUAL(receives, 1);
    EQUAL(barriers, 0);
    MPI_Pcontrol(3);
    EQUAL(level_seen, 3);
    PMPI_Pcontrol(1);
    EQUAL(level_seen, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    EQUAL(barriers, 1);
    CHECK(PMPI_Wtime() > 0);
    return finish("interposition");
}
