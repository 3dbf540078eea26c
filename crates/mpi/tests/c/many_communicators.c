/* Many communicators: alive at once, made and freed over and over, made concurrently, nested, made of overlapping
 * groups. */
#include "check.h"

static int sum_of(MPI_Comm comm, int value)
{
    int total;
    MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, comm);
    return total;
}

static void alive_at_once(void)
{
    enum { N = 1500 };
    MPI_Comm *comms = malloc(N * sizeof *comms);
    for (int i = 0; i < N; i++) MPI_Comm_dup(i % 5 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comms[i]);
    /* a message in each, received in the other order */
    MPI_Request *requests = malloc(N * sizeof *requests);
    int *values = malloc(N * sizeof(int)), next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < N; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, i % 5 ? 0 : next, 1, comms[i], &requests[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        int got;
        MPI_Recv(&got, 1, MPI_INT, i % 5 ? 0 : previous, 1, comms[i], MPI_STATUS_IGNORE);
        EQUAL(got, i);
    }
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) MPI_Comm_free(&comms[i]);
    free(comms);
    free(requests);
    free(values);
}

/* Halves of halves of halves, and a reduction at each level. */
static void nested(void)
{
    MPI_Comm levels[8];
    int depth = 0, n = size, me = rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &levels[0]);
    while (n > 1) {
        MPI_Comm_split(levels[depth], me < n / 2, me, &levels[depth + 1]);
        depth++;
        MPI_Comm_rank(levels[depth], &me);
        MPI_Comm_size(levels[depth], &n);
    }
    for (int d = depth; d >= 0; d--) {
        int members;
        MPI_Comm_size(levels[d], &members);
        EQUAL(sum_of(levels[d], 1), members);
        MPI_Comm_free(&levels[d]);
    }
}

/* Idup of several communicators at the same time, and of one several times; used before others complete. */
static void overlapped(void)
{
    MPI_Comm a, b, copies[6];
    MPI_Request requests[6];
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &b);
    for (int i = 0; i < 6; i++) MPI_Comm_idup(i % 2 ? a : b, &copies[i], &requests[i]);
    EQUAL(sum_of(a, rank), size * (size - 1) / 2);
    for (int i = 5; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        int me;
        MPI_Comm_rank(copies[i], &me);
        EQUAL(me, i % 2 ? rank : size - 1 - rank);
        EQUAL(sum_of(copies[i], rank), size * (size - 1) / 2);
    }
    for (int i = 0; i < 6; i++) MPI_Comm_free(&copies[i]);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

/* Create_group among overlapping pairs, each pair with its tag: only its members call. */
static void pairs(void)
{
    MPI_Group world, two;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int first = 0; first + 1 < size; first++) {
        if (rank != first && rank != first + 1) continue;
        int list[2] = {first + 1, first};
        MPI_Comm pair;
        MPI_Group_incl(world, 2, list, &two);
        MPI_Comm_create_group(MPI_COMM_WORLD, two, first, &pair);
        int me;
        MPI_Comm_rank(pair, &me);
        EQUAL(me, rank == first);
        EQUAL(sum_of(pair, rank), 2 * first + 1);
        MPI_Comm_free(&pair);
        MPI_Group_free(&two);
    }
    MPI_Group_free(&world);
}

/* Contexts are given back: far more than can be alive at once, of groups that change. */
static void over_and_over(void)
{
    for (int i = 0; i < 400; i++) {
        MPI_Comm part, dup;
        MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, rank, &part);
        MPI_Comm_dup(part, &dup);
        int members;
        MPI_Comm_size(dup, &members);
        if (i % 50 == 0) EQUAL(sum_of(dup, 1), members);
        MPI_Comm_free(&part);
        MPI_Comm_free(&dup);
    }
}

static void disconnected(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int value = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 1, comm, &request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
    EQUAL(value, (rank + size - 1) % size);
}

/* Split types: those of the standard's names, and one that nobody knows. */
static void kinds(void)
{
    MPI_Comm comm, again;
    MPI_Info info;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &comm);
    while (comm != MPI_COMM_NULL) { /* ever smaller, to the last */
        int before;
        MPI_Comm_size(comm, &before);
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &again);
        if (again != MPI_COMM_NULL) {
            MPI_Comm_size(again, &n);
            CHECK(n < before);
        }
        MPI_Comm_free(&comm);
        comm = again;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "no such thing");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm);
    CHECK(comm != MPI_COMM_NULL);
    MPI_Comm_size(comm, &n);
    EQUAL(n, size);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

int main(void)
{
    start();
    alive_at_once();
    nested();
    overlapped();
    pairs();
    over_and_over();
    disconnected();
    kinds();
    return finish("many_communicators");
}
