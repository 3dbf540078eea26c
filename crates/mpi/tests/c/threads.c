/* MPI_THREAD_MULTIPLE: threads that send, receive, wait, probe and reduce at the same time. */
#include <pthread.h>
#include "check.h"

enum { THREADS = 4, ROUNDS = 300 };
static MPI_Comm comms[THREADS];
static int next, previous;

/* Every thread has its tag: pairs of threads talk, small and large. */
static void *pairs(void *argument)
{
    int t = (int)(size_t)argument;
    int *out = malloc(30000 * sizeof(int)), *in = malloc(30000 * sizeof(int));
    for (int i = 0; i < ROUNDS; i++) {
        int n = i % 50 == 0 ? 30000 : i % 7 == 0 ? 1200 : 3;
        for (int k = 0; k < n; k += 97) out[k] = rank * 1000 + t * 100 + i + k;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(in, n, MPI_INT, previous, t, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, n, MPI_INT, next, t, MPI_COMM_WORLD, &requests[1]);
        if (i % 3) {
            MPI_Waitall(2, requests, statuses);
        } else {
            int flag = 0;
            while (!flag) MPI_Testall(2, requests, &flag, statuses);
        }
        EQUAL(statuses[0].MPI_TAG, t);
        for (int k = 0; k < n; k += 97) EQUAL(in[k], previous * 1000 + t * 100 + i + k);
    }
    free(out);
    free(in);
    return NULL;
}

/* Every thread its communicator, and its collectives. */
static void *reductions(void *argument)
{
    int t = (int)(size_t)argument;
    for (int i = 0; i < ROUNDS / 3; i++) {
        int value = rank + i * t, sum, word = rank == i % size ? 77 + i : -1;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
        EQUAL(sum, size * (size - 1) / 2 + size * i * t);
        MPI_Bcast(&word, 1, MPI_INT, i % size, comms[t]);
        EQUAL(word, 77 + i);
        if (i % 5 == 0) MPI_Barrier(comms[t]);
    }
    return NULL;
}

/* All threads take from one stream: each message is matched by one Mprobe only. */
static int taken[ROUNDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left;

static void *takers(void *argument)
{
    (void)argument;
    for (;;) {
        pthread_mutex_lock(&lock);
        int more = left > 0;
        left -= more;
        pthread_mutex_unlock(&lock);
        if (!more) return NULL;
        MPI_Message message;
        MPI_Status status;
        int count, value[64];
        MPI_Mprobe(previous, 55, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        MPI_Mrecv(value, count, MPI_INT, &message, MPI_STATUS_IGNORE);
        EQUAL(count, value[0] % 60 + 1);
        pthread_mutex_lock(&lock);
        EQUAL(taken[value[0]]++, 0);
        pthread_mutex_unlock(&lock);
    }
}

/* One thread blocks in a receive while another sends what it waits for, through the other ranks. */
static void *waiter(void *argument)
{
    int value;
    (void)argument;
    MPI_Recv(&value, 1, MPI_INT, previous, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EQUAL(value, previous);
    return NULL;
}

static void run(void *(*body)(void *), int threads)
{
    pthread_t ids[THREADS];
    for (int t = 0; t < threads; t++) CHECK(pthread_create(&ids[t], NULL, body, (void *)(size_t)t) == 0);
    for (int t = 0; t < threads; t++) pthread_join(ids[t], NULL);
}

static void *attributes_and_types(void *argument)
{
    int t = (int)(size_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Datatype type;
        MPI_Comm dup;
        int key, flag, *got, bytes;
        MPI_Type_vector(3 + t, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_size(type, &bytes);
        EQUAL(bytes, 4 * (3 + t));
        MPI_Type_free(&type);
        MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
        if (i % 10 == 0) {
            MPI_Comm_dup(MPI_COMM_SELF, &dup);
            MPI_Comm_set_attr(dup, key, &bytes);
            MPI_Comm_get_attr(dup, key, &got, &flag);
            CHECK(flag && got == &bytes);
            MPI_Comm_free(&dup);
        }
        MPI_Comm_free_keyval(&key);
    }
    return NULL;
}

int main(void)
{
    int provided, is_main, level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    EQUAL(level, MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&is_main);
    CHECK(is_main);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    run(pairs, THREADS);
    run(reductions, THREADS);
    left = ROUNDS;
    pthread_t id;
    MPI_Request *requests = malloc(ROUNDS * sizeof *requests);
    int (*values)[64] = malloc(ROUNDS * sizeof *values);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 64; k++) values[i][k] = i;
        MPI_Isend(values[i], i % 60 + 1, MPI_INT, next, 55, MPI_COMM_WORLD, &requests[i]);
    }
    run(takers, THREADS);
    for (int i = 0; i < ROUNDS; i++) EQUAL(taken[i], 1);
    MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(pthread_create(&id, NULL, waiter, NULL) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, next, 70, MPI_COMM_WORLD);
    pthread_join(id, NULL);
    run(attributes_and_types, THREADS);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&comms[t]);
    return finish("threads");
}
