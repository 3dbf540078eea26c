/* Blocks that are received must not overlap. Programs in which they do end all the same, and what lies elsewhere is
 * right. */
#include "../c/check.h"
#include <string.h>

int main(void)
{
    start();
    enum { MOST = 300000 };
    char *out = malloc(MOST), *in = malloc(2 * MOST);
    int *counts = malloc(size * sizeof *counts), *places = malloc(size * sizeof *places);
    memset(out, 1 + rank, MOST);
    for (int bytes = 3000; bytes <= MOST; bytes *= 3) {
        for (int round = 0; round < 50; round++) {
            /* All blocks but the last one lie at the same place. */
            for (int r = 0; r < size; r++) {
                counts[r] = bytes;
                places[r] = r == size - 1 ? MOST : 0;
            }
            MPI_Allgatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
            EQUAL(in[MOST], size);
            EQUAL(in[MOST + bytes - 1], size);
            MPI_Gatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
            if (rank == 0) EQUAL(in[MOST + bytes / 2], size);
        }
    }
    free(out);
    free(in);
    free(counts);
    free(places);
    return finish("overlapping_blocks");
}
