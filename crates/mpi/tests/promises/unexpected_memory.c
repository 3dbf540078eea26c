/* Messages that nobody has asked for yet cost their receiver envelopes, not contents: 320 MB are under way, and the
 * memory of both ranks grows by a fraction. Then all are received, and whole. */
#include "../c/check.h"

enum { N = 40000, BYTES = 8192, MOST_GROWTH_KB = 60000 };

static long resident_kb(void)
{
    long kb = -1;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1) break;
    fclose(file);
    CHECK(kb > 0);
    return kb;
}

int main(void)
{
    start();
    MPI_Request *requests = malloc(N * sizeof *requests);
    unsigned char *data = malloc(BYTES);
    memset(data, 0x5a, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    long before = resident_kb();
    if (rank == 1) {
        for (int i = 0; i < N; i++) MPI_Isend(data, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(NULL, 0, MPI_BYTE, 0, N, MPI_COMM_WORLD);
        CHECK(resident_kb() - before < MOST_GROWTH_KB);
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, N, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(resident_kb() - before < MOST_GROWTH_KB);
        for (int i = N - 1; i >= 0; i--) {
            data[0] = data[BYTES - 1] = 0;
            MPI_Recv(data, BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(data[0] == 0x5a && data[BYTES - 1] == 0x5a);
        }
    }
    free(requests);
    free(data);
    return finish("unexpected_memory");
}
