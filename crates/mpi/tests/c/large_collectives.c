/* Collectives of megabytes, where algorithms and protocols change, and of sizes around their edges. */
#include "check.h"

static int *a, *b;
static const int lengths[] = {15, 16, 17, 255, 257, 511, 513, 1023, 1025, 2047, 4095, 4097, 8193, 16383, 16385, 65535,
                              65537, 400001};

int main(void)
{
    start();
    a = malloc(sizeof(int) * 400001 * (size_t)(size < 5 ? size : 5));
    b = malloc(sizeof(int) * 400001 * (size_t)(size < 5 ? size : 5));
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k], root = (int)k % size, sum = size * (size - 1) / 2;
        for (int i = 0; i < n; i++) a[i] = rank * 3 + i % 1000;
        MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) EQUAL(b[i], sum * 3 + size * (i % 1000));
        memset(b, 0, sizeof(int) * n);
        MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < n; i++) EQUAL(b[i], sum * 3 + size * (i % 1000));
        MPI_Bcast(a, n, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) EQUAL(a[i], root * 3 + i % 1000);
        if (n > 70000 && size > 5) continue;
        for (int i = 0; i < n; i++) a[i] = rank + i;
        int each = size > 5 ? n / 4 : n; /* fits the room */
        MPI_Allgather(a, each, MPI_INT, b, each, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < each; i += 7) EQUAL(b[(size_t)r * each + i], r + i);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < each; i++) a[(size_t)r * each + i] = rank * 100 + r + i;
        MPI_Alltoall(a, each, MPI_INT, b, each, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < each; i += 7) EQUAL(b[(size_t)r * each + i], r * 100 + rank + i);
        MPI_Reduce_scatter_block(a, b, each, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        for (int i = 0; i < each; i += 7) EQUAL(b[i], (size - 1) * 100 + rank + i);
        MPI_Scan(a, b, each, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        for (int i = 0; i < each; i += 7) EQUAL(b[i], i);
    }
    free(a);
    free(b);
    return finish("large_collectives");
}
