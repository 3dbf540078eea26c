/* Sendrecv, Sendrecv_replace and their non-blocking kin. */
#include "check.h"

static void rings(int n)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, count;
    int *out = calloc(n + 1, sizeof(int)), *in = calloc(n + 1, sizeof(int));
    MPI_Status status;
    for (int i = 0; i < n; i++) out[i] = i + rank;
    MPI_Sendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
    for (int i = 0; i < n; i++) EQUAL(in[i], i + previous);
    EQUAL(status.MPI_SOURCE, previous);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, n);
    MPI_Sendrecv_replace(out, n, MPI_INT, next, 2, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    for (int i = 0; i < n; i++) EQUAL(out[i], i + previous);
    EQUAL(status.MPI_SOURCE, previous);
    EQUAL(status.MPI_TAG, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request requests[2];
    for (int i = 0; i < n; i++) out[i] = i - rank, in[i] = 0;
    MPI_Isendrecv(out, n, MPI_INT, next, 3, in, n, MPI_INT, previous, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    for (int i = 0; i < n; i++) EQUAL(in[i], i - previous);
    EQUAL(status.MPI_SOURCE, previous);
    EQUAL(status.MPI_TAG, 3);
    MPI_Isendrecv_replace(out, n, MPI_INT, next, 4, previous, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isendrecv_replace(in, n, MPI_INT, next, 5, previous, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int before = (rank + 2 * size - 2) % size;
    for (int i = 0; i < n; i++) {
        EQUAL(out[i], i - previous);
        EQUAL(in[i], i - before);
    }
    free(out);
    free(in);
}

/* The two halves pair with plain sends and receives, and may use different types. */
static void halves(void)
{
    if (size == 1) return;
    double pair[2] = {rank + 0.5, rank + 0.25}, in[2];
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_DOUBLE, &two);
    MPI_Type_commit(&two);
    MPI_Status status;
    if (rank == 0) {
        MPI_Sendrecv(pair, 2, MPI_DOUBLE, 1, 6, in, 1, two, 1, 7, MPI_COMM_WORLD, &status);
        CHECK(in[0] == 1.5 && in[1] == 1.25);
    } else if (rank == 1) {
        MPI_Recv(in, 1, two, 0, 6, MPI_COMM_WORLD, &status);
        CHECK(in[0] == 0.5 && in[1] == 0.25);
        MPI_Send(pair, 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Type_free(&two);
}

static void chain(void)
{
    int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, previous = rank ? rank - 1 : MPI_PROC_NULL;
    int value = rank, in = -9;
    MPI_Status status;
    MPI_Sendrecv(&value, 1, MPI_INT, next, 8, &in, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &status);
    EQUAL(in, rank ? rank - 1 : -9);
    EQUAL(status.MPI_SOURCE, previous);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, previous, 8, next, 8, MPI_COMM_WORLD, &status);
    EQUAL(value, rank + 1 < size ? rank + 1 : rank);
    EQUAL(status.MPI_SOURCE, next);
    if (next == MPI_PROC_NULL) EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
}

static void replace_with_holes(void)
{
    MPI_Datatype spread;
    MPI_Type_vector(1000, 2, 5, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    int *data = malloc(5000 * sizeof(int)), next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < 5000; i++) data[i] = i * 10 + rank;
    MPI_Sendrecv_replace(data, 1, spread, next, 9, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5000; i++) EQUAL(data[i], i * 10 + (i % 5 < 2 ? previous : rank));
    MPI_Type_free(&spread);
    free(data);
}

int main(void)
{
    start();
    rings(0);
    rings(1);
    rings(1000);
    rings(300000);
    halves();
    chain();
    replace_with_holes();
    return finish("sendrecv");
}
