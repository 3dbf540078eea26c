/* Probe, Iprobe, Mprobe, Improbe, Mrecv and Imrecv, with wildcards. */
#include "check.h"

static void probe_tells_what_comes(void)
{
    if (rank == 0) {
        for (int k = 1; k < size; k++) {
            MPI_Status status, again;
            int count;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            EQUAL(count, status.MPI_SOURCE * 300);
            EQUAL(status.MPI_TAG, 40 + status.MPI_SOURCE);
            MPI_Probe(status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &again);
            EQUAL(again.MPI_SOURCE, status.MPI_SOURCE);
            int *room = malloc(count * sizeof(int));
            MPI_Recv(room, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &again);
            EQUAL(again.MPI_SOURCE, status.MPI_SOURCE);
            for (int i = 0; i < count; i++) EQUAL(room[i], status.MPI_SOURCE + i);
            free(room);
        }
        int flag = 1;
        MPI_Iprobe(MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    } else {
        int n = rank * 300, *data = malloc(n * sizeof(int));
        for (int i = 0; i < n; i++) data[i] = rank + i;
        MPI_Send(data, n, MPI_INT, 0, 40 + rank, MPI_COMM_WORLD);
        free(data);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void iprobe_polls(int n)
{
    if (rank == 0 && size > 1) {
        int flag = 0, count;
        MPI_Status status;
        MPI_Iprobe(1, 8, MPI_COMM_WORLD, &flag, &status);
        CHECK(!flag);
        MPI_Send(&n, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        while (!flag) MPI_Iprobe(1, 8, MPI_COMM_WORLD, &flag, &status);
        EQUAL(status.MPI_SOURCE, 1);
        EQUAL(status.MPI_TAG, 8);
        MPI_Get_count(&status, MPI_CHAR, &count);
        EQUAL(count, n);
        char *room = malloc(n + 1);
        MPI_Recv(room, n, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (n) CHECK(room[0] == 'a' && room[n - 1] == 'a');
        free(room);
    }
    if (rank == 1) {
        int word;
        MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        char *data = malloc(n + 1);
        memset(data, 'a', n);
        MPI_Send(data, n, MPI_CHAR, 0, 8, MPI_COMM_WORLD);
        free(data);
    }
}

/* A matched message is out of reach of other receives and probes. */
static void mprobe_takes_the_message(int n)
{
    if (rank == 0 && size > 1) {
        MPI_Message first, second, none;
        MPI_Status status;
        int flag, count;
        char *room = malloc(n + 1);
        MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &first, &status);
        EQUAL(status.MPI_TAG, 10);
        MPI_Get_count(&status, MPI_CHAR, &count);
        EQUAL(count, n);
        flag = 0;
        while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &flag, &second, &status);
        EQUAL(status.MPI_SOURCE, 1);
        MPI_Recv(room, n, MPI_CHAR, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(n == 0 || room[n - 1] == 'c');
        MPI_Improbe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &flag, &none, &status);
        CHECK(!flag);
        MPI_Request request;
        MPI_Imrecv(room, n, MPI_CHAR, &second, &request);
        CHECK(second == MPI_MESSAGE_NULL);
        MPI_Wait(&request, &status);
        EQUAL(status.MPI_TAG, 10);
        CHECK(n == 0 || room[n - 1] == 'b');
        MPI_Mrecv(room, n, MPI_CHAR, &first, &status);
        CHECK(first == MPI_MESSAGE_NULL);
        MPI_Get_count(&status, MPI_CHAR, &count);
        EQUAL(count, n);
        EQUAL(status.MPI_SOURCE, 1);
        CHECK(n == 0 || room[n - 1] == 'a');
        free(room);
    }
    if (rank == 1) {
        MPI_Request requests[3];
        char *data[3];
        for (int i = 0; i < 3; i++) {
            data[i] = malloc(n + 1);
            memset(data[i], 'a' + i, n);
            MPI_Isend(data[i], n, MPI_CHAR, 0, 10, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 3; i++) free(data[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void mprobe_of_nobody(void)
{
    MPI_Message message;
    MPI_Status status;
    int flag, count;
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EQUAL(count, 0);
    MPI_Mrecv(NULL, 0, MPI_BYTE, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    MPI_Request request;
    MPI_Imrecv(NULL, 0, MPI_BYTE, &message, &request);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, &status);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
}

/* Probes on one communicator do not see another's messages. */
static void communicators_are_apart(void)
{
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, flag, value;
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, next, 2, other, &request);
    MPI_Status status;
    MPI_Probe(previous, 2, other, &status);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
    EQUAL(value, previous);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
}

int main(void)
{
    start();
    probe_tells_what_comes();
    iprobe_polls(0);
    iprobe_polls(10);
    iprobe_polls(2000000);
    mprobe_takes_the_message(0);
    mprobe_takes_the_message(20);
    mprobe_takes_the_message(500000);
    mprobe_of_nobody();
    communicators_are_apart();
    return finish("probe");
}
