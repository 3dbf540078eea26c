/* 100,000 outstanding receives, and as many unexpected messages: both stay quick in the worst order. */
#include "check.h"

enum { N = 100000 };

static void receives(int *values, MPI_Request *requests)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            values[i] = -1;
            MPI_Irecv(&values[i], 1, MPI_INT, size - 1, i % 25000, MPI_COMM_WORLD, &requests[i]);
        }
    }
    if (rank == size - 1) {
        if (rank != 0) MPI_Recv(NULL, 0, MPI_INT, 0, 30000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < 4; k++) {
            for (int i = 25000 - 1; i >= 0; i--) { /* the last posted first */
                int value = 25000 * k + i;
                MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
            }
        }
    } else if (rank == 0) {
        MPI_Send(NULL, 0, MPI_INT, size - 1, 30000, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) EQUAL(values[i], i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void unexpected(int *values, MPI_Request *requests)
{
    if (rank == size - 1) {
        for (int i = 0; i < N; i++) {
            values[i] = i;
            MPI_Isend(&values[i], 1, MPI_INT, 0, i % 25000, MPI_COMM_WORLD, &requests[i]);
        }
    }
    if (size == 1) {
        for (int i = N - 1; i >= 0; i--) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, 0, i % 25000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EQUAL(value % 25000, i % 25000);
        }
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 0) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, size - 1, 30001, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < 4; k++) {
            for (int i = 25000 - 1; i >= 0; i--) {
                MPI_Recv(&value, 1, MPI_INT, i % 3 ? size - 1 : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EQUAL(value, 25000 * k + i);
            }
        }
    } else if (rank == size - 1) {
        MPI_Send(values, 1, MPI_INT, 0, 30001, MPI_COMM_WORLD);
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    start();
    int *values = malloc(N * sizeof(int));
    MPI_Request *requests = malloc(N * sizeof(MPI_Request));
    receives(values, requests);
    unexpected(values, requests);
    free(values);
    free(requests);
    return finish("many");
}
