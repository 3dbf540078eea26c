/* Messages to oneself, on MPI_COMM_SELF and on MPI_COMM_WORLD. */
#include "check.h"

static char pool[1 << 20];

static void on(MPI_Comm comm, int n)
{
    int me, *out = calloc(n + 1, sizeof(int)), *in = calloc(n + 1, sizeof(int)), count, flag;
    MPI_Comm_rank(comm, &me);
    MPI_Request requests[3];
    MPI_Status status;
    for (int i = 0; i < n; i++) out[i] = i + rank;
    /* the send first */
    MPI_Isend(out, n, MPI_INT, me, 1, comm, &requests[0]);
    MPI_Recv(in, n, MPI_INT, me, 1, comm, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) EQUAL(in[i], i + rank);
    EQUAL(status.MPI_SOURCE, me);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, n);
    /* the receive first, with every mode */
    memset(in, 0, n * sizeof(int));
    MPI_Irecv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Send(out, n, MPI_INT, me, 2, comm);
    MPI_Wait(&requests[0], &status);
    EQUAL(status.MPI_TAG, 2);
    for (int i = 0; i < n; i++) EQUAL(in[i], i + rank);
    MPI_Irecv(in, n, MPI_INT, me, 3, comm, &requests[0]);
    MPI_Ssend(out, n, MPI_INT, me, 3, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(in, n, MPI_INT, me, 4, comm, &requests[0]);
    MPI_Rsend(out, n, MPI_INT, me, 4, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Bsend(out, n, MPI_INT, me, 5, comm);
    flag = 0;
    while (!flag) MPI_Iprobe(me, 5, comm, &flag, &status);
    MPI_Recv(in, n, MPI_INT, me, 5, comm, MPI_STATUS_IGNORE);
    MPI_Issend(out, n, MPI_INT, me, 6, comm, &requests[0]);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Message message;
    MPI_Mprobe(me, 6, comm, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EQUAL(count, n);
    MPI_Mrecv(in, n, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, n, MPI_INT, me, 7, in, n, MPI_INT, me, 7, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) EQUAL(in[i], i + rank);
    MPI_Sendrecv_replace(in, n, MPI_INT, me, 7, me, 7, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) EQUAL(in[i], i + rank);
    free(out);
    free(in);
}

/* Sent with holes, received with others. */
static void with_types(void)
{
    MPI_Datatype vector, block;
    int out[40], in[40];
    MPI_Type_vector(10, 2, 4, MPI_INT, &vector);
    MPI_Type_vector(5, 4, 8, MPI_INT, &block);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&block);
    for (int i = 0; i < 40; i++) out[i] = i, in[i] = -1;
    MPI_Sendrecv(out, 1, vector, 0, 1, in, 1, block, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    int k = 0;
    for (int i = 0; i < 40; i++) {
        if (i % 8 < 4) {
            EQUAL(in[i], k / 2 * 4 + k % 2);
            k++;
        } else {
            EQUAL(in[i], -1);
        }
    }
    EQUAL(k, 20);
    MPI_Type_free(&vector);
    MPI_Type_free(&block);
}

int main(void)
{
    start();
    MPI_Buffer_attach(pool, sizeof pool);
    static const int lengths[] = {0, 1, 12, 1000, 30000};
    for (int i = 0; i < 5; i++) {
        on(MPI_COMM_SELF, lengths[i]);
        on(MPI_COMM_WORLD, lengths[i]);
    }
    with_types();
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
    return finish("self_messages");
}
