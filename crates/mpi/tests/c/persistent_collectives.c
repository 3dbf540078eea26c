/* Persistent collectives (MPI 4.0): initialised once, started again with new contents. */
#include "check.h"

enum { N = 40, EACH = 17, ROUNDS = 4 };
#define FROM(r, i, j) ((r) * 10007 + (i) + (j) + round)

int main(void)
{
    start();
    int *a[EACH], *b[EACH], root = size - 1, k = 0, ranks = size * (size - 1) / 2;
    int *counts = malloc(size * sizeof(int)), *places = malloc(size * sizeof(int)), *bytes = malloc(size * sizeof(int));
    MPI_Datatype *types = malloc(size * sizeof *types);
    MPI_Request requests[EACH];
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info none = MPI_INFO_NULL;
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
    MPI_Barrier_init(comm, none, &requests[k++]);
    MPI_Bcast_init(a[k], N, MPI_INT, root, comm, none, &requests[k]); k++;
    MPI_Gather_init(a[k], N, MPI_INT, b[k], N, MPI_INT, root, comm, none, &requests[k]); k++;
    MPI_Gatherv_init(a[k], N, MPI_INT, b[k], counts, places, MPI_INT, root, comm, none, &requests[k]); k++;
    MPI_Scatter_init(a[k], N, MPI_INT, b[k], N, MPI_INT, root, comm, none, &requests[k]); k++;
    MPI_Scatterv_init(a[k], counts, places, MPI_INT, b[k], N, MPI_INT, root, comm, none, &requests[k]); k++;
    MPI_Allgather_init(a[k], N, MPI_INT, b[k], N, MPI_INT, comm, none, &requests[k]); k++;
    MPI_Allgatherv_init(a[k], N, MPI_INT, b[k], counts, places, MPI_INT, comm, none, &requests[k]); k++;
    MPI_Alltoall_init(a[k], N, MPI_INT, b[k], N, MPI_INT, comm, none, &requests[k]); k++;
    MPI_Alltoallv_init(a[k], counts, places, MPI_INT, b[k], counts, places, MPI_INT, comm, none, &requests[k]); k++;
    MPI_Alltoallw_init(a[k], counts, bytes, types, b[k], counts, bytes, types, comm, none, &requests[k]); k++;
    MPI_Reduce_init(a[k], b[k], N, MPI_INT, MPI_SUM, root, comm, none, &requests[k]); k++;
    MPI_Allreduce_init(a[k], b[k], N, MPI_INT, MPI_MAX, comm, none, &requests[k]); k++;
    MPI_Reduce_scatter_init(a[k], b[k], counts, MPI_INT, MPI_SUM, comm, none, &requests[k]); k++;
    MPI_Reduce_scatter_block_init(a[k], b[k], N, MPI_INT, MPI_SUM, comm, none, &requests[k]); k++;
    MPI_Scan_init(a[k], b[k], N, MPI_INT, MPI_SUM, comm, none, &requests[k]); k++;
    MPI_Exscan_init(a[k], b[k], N, MPI_INT, MPI_SUM, comm, none, &requests[k]); k++;
    EQUAL(k, EACH);
    for (int round = 0; round < ROUNDS; round++) {
        for (int j = 0; j < EACH; j++) {
            for (int i = 0; i < N * size; i++) {
                a[j][i] = rank * 10007 + i + j + round;
                b[j][i] = -1;
            }
        }
        if (round % 2) {
            MPI_Startall(EACH, requests);
        } else {
            for (int j = 0; j < EACH; j++) MPI_Start(&requests[j]);
        }
        if (round < 2) {
            MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int j = EACH - 1; j >= 0; j--) MPI_Wait(&requests[j], MPI_STATUS_IGNORE);
        }
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
    for (int j = 0; j < EACH; j++) {
        MPI_Request_free(&requests[j]);
        CHECK(requests[j] == MPI_REQUEST_NULL);
        free(a[j]);
        free(b[j]);
    }
    free(counts);
    free(places);
    free(bytes);
    free(types);
    return finish("persistent_collectives");
}
