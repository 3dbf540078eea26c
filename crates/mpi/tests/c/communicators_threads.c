/* Threads that make and free communicators at the same time, each from one of its own. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 40 };

static MPI_Comm own[THREADS];

static void ring(MPI_Comm comm, int value)
{
    int r, members, in = -1;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &members);
    MPI_Sendrecv(&value, 1, MPI_INT, (r + 1) % members, 0, &in, 1, MPI_INT, (r + members - 1) % members, 0, comm,
                 MPI_STATUS_IGNORE);
    EQUAL(in, value);
}

static void *work(void *argument)
{
    int thread = (int)(long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made, part;
        MPI_Request request;
        MPI_Info info;
        MPI_Comm_split(own[thread], 0, -rank, &part);
        MPI_Comm_idup(own[thread], &made, &request);
        ring(part, thread * ROUNDS + i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_set_name(made, "made");
        MPI_Comm_get_info(made, &info);
        MPI_Info_free(&info);
        ring(made, thread * ROUNDS + i);
        MPI_Comm_free(&part);
        MPI_Comm_free(&made);
    }
    return NULL;
}

int main(void)
{
    int level;
    pthread_t threads[THREADS];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(level, MPI_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
    for (long t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&own[t]);
    return finish("communicators_threads");
}
