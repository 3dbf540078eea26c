/* Threads that make, use and free communicators, types, operations and error handlers at the same time. */
#include <pthread.h>
#include "check.h"

enum { THREADS = 3, ROUNDS = 25 };
static MPI_Comm bases[THREADS];

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static int sum_of(MPI_Comm comm, MPI_Op op)
{
    int total;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, op, comm);
    return total;
}

static void *body(void *argument)
{
    int t = (int)(size_t)argument, all = size * (size - 1) / 2;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm a, b, c;
        MPI_Request request;
        MPI_Group group, half;
        MPI_Errhandler eh;
        MPI_Op op;
        MPI_Op_create(add, 1, &op);
        MPI_Comm_dup(bases[t], &a);
        MPI_Comm_idup(bases[t], &b, &request);
        EQUAL(sum_of(a, op), all);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EQUAL(sum_of(b, MPI_SUM), all);
        MPI_Comm_create_errhandler(handler, &eh);
        MPI_Comm_set_errhandler(b, eh);
        MPI_Errhandler_free(&eh);
        int me, code = MPI_Send(&i, 1, MPI_INT, size, 0, b);
        CHECK(code != MPI_SUCCESS);
        MPI_Comm_split(a, rank % 2, -rank, &c);
        int wanted = 0;
        for (int r = rank % 2; r < size; r += 2) wanted += r;
        EQUAL(sum_of(c, op), wanted);
        MPI_Comm_free(&c);
        /* by the members alone; threads on one parent keep apart by tags */
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        int range[1][3] = {{rank % 2, size - 1, 2}};
        MPI_Group_range_incl(group, 1, range, &half);
        MPI_Comm_create_group(MPI_COMM_WORLD, half, t, &c);
        EQUAL(sum_of(c, MPI_SUM), wanted);
        MPI_Comm_rank(c, &me);
        EQUAL(me, rank / 2);
        MPI_Comm_free(&c);
        MPI_Group_free(&group);
        MPI_Group_free(&half);
        MPI_Op_free(&op);
        MPI_Comm_free(&a);
        MPI_Comm_free(&b);
    }
    return NULL;
}

/* Several threads complete parts of one list of requests; one blocks in Waitany while others send. */
static MPI_Request requests[THREADS][50];
static int values[THREADS][50];

static void *finisher(void *argument)
{
    int t = (int)(size_t)argument;
    for (int i = 0; i < 50; i++) {
        int index;
        MPI_Status status;
        MPI_Waitany(50, requests[t], &index, &status);
        EQUAL(status.MPI_TAG, 1000 * t + index);
        EQUAL(values[t][index], 1000 * t + index);
    }
    return NULL;
}

static void run(void *(*what)(void *))
{
    pthread_t ids[THREADS];
    for (int t = 0; t < THREADS; t++) CHECK(pthread_create(&ids[t], NULL, what, (void *)(size_t)t) == 0);
    for (int t = 0; t < THREADS; t++) pthread_join(ids[t], NULL);
}

int main(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &bases[t]);
    run(body);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 50; i++)
            MPI_Irecv(&values[t][i], 1, MPI_INT, (rank + size - 1) % size, 1000 * t + i, MPI_COMM_WORLD,
                      &requests[t][i]);
    pthread_t ids[THREADS];
    for (int t = 0; t < THREADS; t++) CHECK(pthread_create(&ids[t], NULL, finisher, (void *)(size_t)t) == 0);
    for (int i = 49; i >= 0; i--) {
        for (int t = 0; t < THREADS; t++) {
            int value = 1000 * t + i;
            MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, value, MPI_COMM_WORLD);
        }
    }
    for (int t = 0; t < THREADS; t++) pthread_join(ids[t], NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&bases[t]);
    return finish("thread_objects");
}
