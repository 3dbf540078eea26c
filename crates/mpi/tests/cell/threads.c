/* A library that starts threads: one computes beside the program, and one calls MPI in turn with it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static volatile int over;
static int rank, size;

static void *beside(void *nothing) {
    for (volatile long i = 0; !over; i++) continue;
    return nothing;
}

static void *in_turn(void *value) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 4, value, 1, MPI_INT, (rank + size - 1) % size, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int level, value = -1, sum = 0;
    pthread_t first, second;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_create(&first, NULL, beside, NULL);
    for (int round = 0; round < 3; round++) {
        pthread_create(&second, NULL, in_turn, &value);
        pthread_join(second, NULL);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    over = 1;
    pthread_join(first, NULL);
    if (level != MPI_THREAD_SERIALIZED || value != (rank + size - 1) % size || sum != size * (size - 1) / 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) printf("%.9f\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
