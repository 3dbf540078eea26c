/* Non-blocking collectives: every one, many at the same time, completed out of order, among point-to-point messages. */
#include "check.h"

enum { N = 700, EACH = 17 };
static int *a[EACH], *b[EACH];
static int *counts, *places, *bytes;
static MPI_Datatype *types;

static void start_all(MPI_Comm comm, int round, MPI_Request *requests)
{
    int root = round % size, k = 0;
    for (int j = 0; j < EACH; j++) {
        for (int i = 0; i < N * size; i++) {
            a[j][i] = rank * 10007 + i + j + round;
            b[j][i] = -1;
        }
    }
    MPI_Ibarrier(comm, &requests[k++]);
    MPI_Ibcast(a[k], N, MPI_INT, root, comm, &requests[k]); k++;
    MPI_Igather(a[k], N, MPI_INT, b[k], N, MPI_INT, root, comm, &requests[k]); k++;
    MPI_Igatherv(a[k], N, MPI_INT, b[k], counts, places, MPI_INT, root, comm, &requests[k]); k++;
    MPI_Iscatter(a[k], N, MPI_INT, b[k], N, MPI_INT, root, comm, &requests[k]); k++;
    MPI_Iscatterv(a[k], counts, places, MPI_INT, b[k], N, MPI_INT, root, comm, &requests[k]); k++;
    MPI_Iallgather(a[k], N, MPI_INT, b[k], N, MPI_INT, comm, &requests[k]); k++;
    MPI_Iallgatherv(a[k], N, MPI_INT, b[k], counts, places, MPI_INT, comm, &requests[k]); k++;
    MPI_Ialltoall(a[k], N, MPI_INT, b[k], N, MPI_INT, comm, &requests[k]); k++;
    MPI_Ialltoallv(a[k], counts, places, MPI_INT, b[k], counts, places, MPI_INT, comm, &requests[k]); k++;
    MPI_Ialltoallw(a[k], counts, bytes, types, b[k], counts, bytes, types, comm, &requests[k]); k++;
    MPI_Ireduce(a[k], b[k], N, MPI_INT, MPI_SUM, root, comm, &requests[k]); k++;
    MPI_Iallreduce(a[k], b[k], N, MPI_INT, MPI_MAX, comm, &requests[k]); k++;
    MPI_Ireduce_scatter(a[k], b[k], counts, MPI_INT, MPI_SUM, comm, &requests[k]); k++;
    MPI_Ireduce_scatter_block(a[k], b[k], N, MPI_INT, MPI_SUM, comm, &requests[k]); k++;
    MPI_Iscan(a[k], b[k], N, MPI_INT, MPI_SUM, comm, &requests[k]); k++;
    MPI_Iexscan(a[k], b[k], N, MPI_INT, MPI_SUM, comm, &requests[k]); k++;
    EQUAL(k, EACH);
}

static void check_all(int round)
{
    int root = round % size, ranks = size * (size - 1) / 2;
#define FROM(r, i, j) ((r) * 10007 + (i) + (j) + round)
    for (int i = 0; i < N; i++) {
        EQUAL(a[1][i], FROM(root, i, 1));
        for (int r = 0; r < size; r++) {
            int at = r * N + i;
            if (rank == root) EQUAL(b[2][at], FROM(r, i, 2));
            if (rank == root) EQUAL(b[3][at], FROM(r, i, 3));
            EQUAL(b[6][at], FROM(r, i, 6));
            EQUAL(b[7][at], FROM(r, i, 7));
            EQUAL(b[8][at], FROM(r, rank * N + i, 8));
            EQUAL(b[9][at], FROM(r, rank * N + i, 9));
            EQUAL(b[10][at], FROM(r, rank * N + i, 10));
        }
        EQUAL(b[4][i], FROM(root, rank * N + i, 4));
        EQUAL(b[5][i], FROM(root, rank * N + i, 5));
        if (rank == root) EQUAL(b[11][i], ranks * 10007 + size * (i + 11 + round));
        EQUAL(b[12][i], FROM(size - 1, i, 12));
        EQUAL(b[13][i], ranks * 10007 + size * (rank * N + i + 13 + round));
        EQUAL(b[14][i], ranks * 10007 + size * (rank * N + i + 14 + round));
        EQUAL(b[15][i], rank * (rank + 1) / 2 * 10007 + (rank + 1) * (i + 15 + round));
        if (rank > 0) EQUAL(b[16][i], rank * (rank - 1) / 2 * 10007 + rank * (i + 16 + round));
    }
}

static void complete(MPI_Request *requests, int round)
{
    int index, flag = 0, count, indices[EACH];
    MPI_Status status;
    switch (round % 5) {
    case 0:
        MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int k = EACH - 1; k >= 0; k--) MPI_Wait(&requests[k], &status);
        break;
    case 2:
        for (int k = 0; k < EACH; k++) {
            MPI_Waitany(EACH, requests, &index, &status);
            CHECK(index >= 0);
        }
        break;
    case 3:
        while (!flag) MPI_Testall(EACH, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    default:
        for (int done = 0; done < EACH; done += count)
            MPI_Waitsome(EACH, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < EACH; k++) CHECK(requests[k] == MPI_REQUEST_NULL);
}

static void among_messages(void)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int round = 0; round < 20; round++) {
        int out = rank * round, in = -1, sum = -1, wanted = 0, word[2] = {rank, round}, got[2];
        MPI_Request requests[4];
        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EQUAL(in, previous * round);
        for (int r = 0; r < size; r++) wanted += r * round;
        EQUAL(sum, wanted);
        /* blocking calls while a non-blocking one is under way */
        MPI_Bcast(word, 2, MPI_INT, round % size, MPI_COMM_WORLD);
        EQUAL(word[0], round % size);
        MPI_Sendrecv(word, 2, MPI_INT, next, 6, got, 2, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EQUAL(got[1], round);
        MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE);
    }
    /* A receive of any tag may still wait at a slow rank: it must not get a message of what comes next. */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An Ibarrier is not complete before all have started it. */
static void barrier_waits(void)
{
    if (size == 1) return;
    MPI_Request request;
    int flag, word = 0;
    if (rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        for (int i = 0; i < 100; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        for (int r = 1; r < size; r++) MPI_Send(&word, 1, MPI_INT, r, 8, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(void)
{
    start();
    counts = malloc(size * sizeof(int));
    places = malloc(size * sizeof(int));
    bytes = malloc(size * sizeof(int));
    types = malloc(size * sizeof *types);
    for (int r = 0; r < size; r++) {
        counts[r] = N;
        places[r] = r * N;
        bytes[r] = r * N * (int)sizeof(int);
        types[r] = MPI_INT;
    }
    for (int j = 0; j < EACH; j++) {
        a[j] = malloc(N * size * sizeof(int));
        b[j] = malloc(N * size * sizeof(int));
    }
    MPI_Request requests[EACH];
    for (int round = 0; round < 10; round++) {
        start_all(MPI_COMM_WORLD, round, requests);
        complete(requests, round);
        check_all(round);
    }
    among_messages();
    barrier_waits();
    /* 200 outstanding on two communicators, waited for last to first */
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Request many[200];
    int values[200], sums[200];
    for (int i = 0; i < 200; i++) {
        values[i] = rank + i;
        MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, i % 2 ? other : MPI_COMM_WORLD, &many[i]);
    }
    for (int i = 199; i >= 0; i--) {
        MPI_Wait(&many[i], MPI_STATUS_IGNORE);
        EQUAL(sums[i], size * i + size * (size - 1) / 2);
    }
    MPI_Comm_free(&other);
    for (int j = 0; j < EACH; j++) {
        free(a[j]);
        free(b[j]);
    }
    free(counts);
    free(places);
    free(bytes);
    free(types);
    return finish("nonblocking");
}
