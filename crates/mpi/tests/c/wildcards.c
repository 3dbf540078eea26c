/* Wildcards and order: a message goes to the first posted receive that it fits, whatever kinds stand around it. */
#include "check.h"

/* Posted receives of every kind in turn; each message takes the earliest that fits. */
static void posted_in_order(void)
{
    enum { N = 40 };
    int values[N];
    MPI_Request requests[N];
    MPI_Status status;
    if (rank == 0 && size > 1) {
        for (int i = 0; i < N; i++) {
            int source = i & 1 ? MPI_ANY_SOURCE : 1, tag = i & 2 ? MPI_ANY_TAG : 5;
            values[i] = -1;
            MPI_Irecv(&values[i], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) {
            MPI_Wait(&requests[i], &status);
            EQUAL(values[i], i);
            EQUAL(status.MPI_SOURCE, 1);
            EQUAL(status.MPI_TAG, 5);
        }
    }
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++) MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
}

/* Tags differ: what does not fit a receive passes it by. */
static void passes_by(void)
{
    int a = -1, b = -1, c = -1, d = -1;
    MPI_Request requests[4];
    if (rank == 0 && size > 1) {
        MPI_Irecv(&a, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, 13, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&c, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Irecv(&d, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[3]);
        MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        EQUAL(a, 102);
        EQUAL(b, 101);
        EQUAL(c, 100);
        EQUAL(d, 103);
    }
    if (rank == 1) {
        static const int tags[] = {14, 13, 12, 12};
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 4; i++) {
            int value = 100 + i;
            MPI_Send(&value, 1, MPI_INT, 0, tags[i], MPI_COMM_WORLD);
        }
    }
}

/* Unexpected messages: wildcard receives take the oldest that fits, exact ones theirs. */
static void unexpected_in_order(void)
{
    enum { N = 300 };
    if (rank == 1) {
        for (int i = 0; i < N; i++) MPI_Send(&i, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD);
    }
    if (rank == 0 && size > 1) {
        MPI_Status status;
        int value, taken[N] = {0};
        MPI_Recv(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < N; k++) {
            int tag = k % 4 == 3 ? 2 : k % 4 == 1 ? 1 : MPI_ANY_TAG, wanted = 0;
            while (wanted < N && (taken[wanted] || (tag != MPI_ANY_TAG && wanted % 3 != tag))) wanted++;
            if (wanted == N) {
                tag = MPI_ANY_TAG;
                wanted = 0;
                while (taken[wanted]) wanted++;
            }
            MPI_Recv(&value, 1, MPI_INT, k % 2 ? 1 : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
            EQUAL(value, wanted);
            EQUAL(status.MPI_TAG, wanted % 3);
            taken[wanted] = 1;
        }
    }
}

/* From any source: each sender's messages stay in order, and nothing is lost. */
static void senders_interleave(void)
{
    enum { N = 500 };
    if (rank == 0) {
        int *seen = calloc(size, sizeof(int));
        for (int k = 0; k < N * (size - 1); k++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            EQUAL(value, seen[status.MPI_SOURCE]++);
            EQUAL(status.MPI_TAG, value % 7);
        }
        for (int r = 1; r < size; r++) EQUAL(seen[r], N);
        free(seen);
    } else {
        for (int i = 0; i < N; i++) MPI_Send(&i, 1, MPI_INT, 0, i % 7, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An early wildcard receive for a large message does not let a later exact receive overtake. */
static void large_ones(void)
{
    enum { N = 100000 };
    if (rank == 0 && size > 1) {
        int *a = malloc(N * sizeof(int)), *b = malloc(N * sizeof(int));
        MPI_Request requests[2];
        MPI_Irecv(a, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(b, N, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) EQUAL(a[i], i);
        EQUAL(b[0], -4);
        free(a);
        free(b);
    }
    if (rank == 1) {
        int *data = malloc(N * sizeof(int)), small = -4;
        for (int i = 0; i < N; i++) data[i] = i;
        MPI_Request requests[2];
        MPI_Isend(data, N, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&small, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        free(data);
    }
}

int main(void)
{
    start();
    posted_in_order();
    passes_by();
    unexpected_in_order();
    MPI_Barrier(MPI_COMM_WORLD);
    senders_interleave();
    large_ones();
    return finish("wildcards");
}
