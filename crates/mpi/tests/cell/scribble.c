/* Rank 1 writes random words where it asks the simulator, as if it asked: scribble SEED PLACE. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where the memory lies that the ranks share. */
static char *shared(void) {
    static char line[1000];
    FILE *maps = fopen("/proc/self/maps", "r");
    void *start = NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:cellweave") && !start) sscanf(line, "%p", &start);
    if (maps) fclose(maps);
    return start;
}

int main(int argc, char **argv) {
    int rank, value = 7;
    if (argc != 3) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *memory = shared();
    if (!memory) return 3;
    volatile uint64_t *desk = (volatile uint64_t *)(memory + strtoull(argv[2], NULL, 10));
    uint64_t state = strtoull(argv[1], NULL, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        /* The turn is the first word; what is asked comes behind it. */
        for (int i = 1; i < 10; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            desk[i] = state % 4 == 0 ? state >> 33 : state >> 60;
        }
        desk[1] = state >> 33 & 15;
        /* The simulator's turn, until it has answered. */
        *(volatile uint32_t *)desk = 1;
        for (int i = 0; i < 2000 && *(volatile uint32_t *)desk == 1; i++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    MPI_Send(&value, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
