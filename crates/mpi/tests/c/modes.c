/* Standard, synchronous, buffered and ready sends, blocking and not. */
#include "check.h"

static char pool[1 << 20];

/* A synchronous send is not complete before its receive has started. */
static void synchronous_waits_for_the_receive(int n)
{
    char *data = calloc(n + 1, 1);
    if (rank == 0 && size > 1) {
        MPI_Request request;
        int done, word;
        memset(data, 'x', n);
        MPI_Issend(data, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 200; i++) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            CHECK(!done);
        }
        /* a message after it is received although the first is not */
        MPI_Send(&n, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(word, n);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(!done);
        MPI_Send(&n, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL);
    }
    if (rank == 1) {
        int word;
        MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) EQUAL(data[i], 'x');
    }
    free(data);
}

typedef int Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void every_mode_delivers(int n)
{
    static Send *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    static Isend *const isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    int *out = malloc((n + 1) * sizeof(int)), *in[8];
    MPI_Request receives[8];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int m = 0; m < 8; m++) {
        in[m] = malloc((n + 1) * sizeof(int));
        MPI_Irecv(in[m], n, MPI_INT, previous, m, MPI_COMM_WORLD, &receives[m]);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* ready sends need their receives */
    for (int i = 0; i < n; i++) out[i] = i + rank * 1000;
    for (int m = 0; m < 4; m++) {
        MPI_Request request;
        isends[m](out, n, MPI_INT, next, 4 + m, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sends[m](out, n, MPI_INT, next, m, MPI_COMM_WORLD);
    }
    MPI_Waitall(8, receives, MPI_STATUSES_IGNORE);
    for (int m = 0; m < 8; m++) {
        for (int i = 0; i < n; i++) EQUAL(in[m][i], i + previous * 1000);
        free(in[m]);
    }
    free(out);
}

/* A buffered send is local: it completes with nobody receiving, and the data is as it was when it was sent. */
static void buffered_is_local(int n)
{
    int *data = malloc((n + 1) * sizeof(int));
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < n; i++) data[i] = i + k;
        MPI_Bsend(data, n, MPI_INT, next, k, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) data[i] = -1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 2; k >= 0; k--) {
        MPI_Recv(data, n, MPI_INT, previous, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) EQUAL(data[i], i + k);
    }
    free(data);
}

int main(void)
{
    start();
    static const int lengths[] = {0, 4, 500, 5000, 20000};
    MPI_Buffer_attach(pool, sizeof pool);
    synchronous_waits_for_the_receive(0);
    synchronous_waits_for_the_receive(10);
    synchronous_waits_for_the_receive(1000000);
    for (int i = 0; i < 5; i++) every_mode_delivers(lengths[i]);
    for (int i = 0; i < 5; i++) buffered_is_local(lengths[i]);
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
    CHECK(back == pool);
    EQUAL(bytes, sizeof pool);
    return finish("modes");
}
