/* Ranks that share cpus and gather much at one of them wait for it: they go on only as far as their slots hold data. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../c/check.h"

int main(void)
{
    enum { BYTES = 256 << 10, TURNS = 40, MOST_SLOTS = 16 };
    start();
    char path[64] = "";
    if (rank == 0) {
        strcpy(path, "/dev/shm/gathers_wait-XXXXXX");
        int file = mkstemp(path);
        EQUAL(ftruncate(file, sizeof(int)), 0);
        close(file);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    int file = open(path, O_RDWR);
    /* How many gathers rank 0 has begun. */
    volatile int *begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    EQUAL(begun == MAP_FAILED, 0);
    char *data = calloc(BYTES, 1), *all = calloc(BYTES, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path); /* all have it: nothing stays, however this ends */
    for (int turn = 1; turn <= TURNS; turn++) {
        if (rank == 0) {
            usleep(5000);
            *begun = turn;
        }
        int bytes = turn % 2 ? BYTES : BYTES / 4;
        MPI_Gather(data, bytes, MPI_CHAR, all, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        EQUAL(*begun + MOST_SLOTS >= turn, 1);
    }
    free(data), free(all);
    return finish("gathers_wait");
}
