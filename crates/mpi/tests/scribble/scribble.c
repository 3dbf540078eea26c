/* Ranks exchange messages of all sizes while a thread of the last one writes random words into an area of the memory
 * that they share: scribble SEED FROM BYTES MILLISECONDS. Data is not looked at. A rank whose messages don't come a
 * second after the last scribble gives up. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* MANY messages of a line each fill the ring to the rank before, so that its counters are read. */
enum { GAVE_UP = 77, LARGEST = 1000000, TOGETHER = 8, SMALL = 40, MANY = 300 };

static uint64_t seed;
static size_t from, bytes;
static double until;

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33 ^ *state << 31;
}

/* Where the memory lies that the ranks share. */
static char *shared(void)
{
    static char line[1000];
    FILE *maps = fopen("/proc/self/maps", "r");
    void *start = NULL;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:cellweave")) sscanf(line, "%p", &start);
    if (maps) fclose(maps);
    return start;
}

static void *scribble(void *memory)
{
    uint64_t state = seed;
    while (MPI_Wtime() < until) {
        size_t place = from + next(&state) % bytes / 8 * 8;
        uint64_t old, word = next(&state);
        memcpy(&old, (char *)memory + place, 8);
        /* Anything, a small number, or what was there with one bit changed. */
        if (word % 3 == 1) word = word >> 8 & 0xff;
        if (word % 3 == 2) word = old ^ (uint64_t)1 << (word >> 8) % 64;
        memcpy((char *)memory + place, &word, 8);
        if (word % 16 == 0) nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    return NULL;
}

static void give_up(int signal)
{
    (void)signal;
    _exit(GAVE_UP);
}

int main(int argc, char **argv)
{
    static char out[TOGETHER][LARGEST], in[TOGETHER][LARGEST];
    int rank, size;
    if (argc != 5) return 2;
    /* The largest messages go from process to process. */
    setenv("CELLWEAVE_MPI_COPY", "200000", 1);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = strtoull(argv[1], NULL, 10);
    from = strtoull(argv[2], NULL, 10);
    bytes = strtoull(argv[3], NULL, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    long milliseconds = strtol(argv[4], NULL, 10);
    until = MPI_Wtime() + milliseconds * 1e-3;
    signal(SIGALRM, give_up);
    setitimer(ITIMER_REAL, &(struct itimerval){{0}, {1 + milliseconds / 1000, milliseconds % 1000 * 1000}}, NULL);
    char *memory = shared();
    if (!memory) return 3;
    pthread_t scribbler;
    if (rank == size - 1) pthread_create(&scribbler, NULL, scribble, memory);
    static const int SIZES[] = {0, 8, 48, 49, 500, 5000, 30000, 70000, 300000, LARGEST};
    /* All ranks draw the same numbers, so that each knows what the others do. */
    uint64_t state = seed;
    for (int again = 1; again;) {
        static char small[2][MANY][SMALL];
        MPI_Request requests[2 * TOGETHER], many[2 * MANY];
        int step = next(&state) % size;
        for (int i = 0; i < TOGETHER; i++) {
            int count = SIZES[next(&state) % (sizeof SIZES / sizeof *SIZES)];
            int source = next(&state) % 2 ? MPI_ANY_SOURCE : (rank + size - step) % size;
            MPI_Irecv(in[i], LARGEST, MPI_CHAR, source, i, MPI_COMM_WORLD, &requests[2 * i]);
            MPI_Isend(out[i], count, MPI_CHAR, (rank + step) % size, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
        }
        for (int i = 0; i < MANY; i++) {
            int tag = TOGETHER + i, to = (rank + size - 1) % size, source = (rank + 1) % size;
            MPI_Irecv(small[0][i], SMALL, MPI_CHAR, source, tag, MPI_COMM_WORLD, &many[2 * i]);
            MPI_Isend(small[1][i], SMALL, MPI_CHAR, to, tag, MPI_COMM_WORLD, &many[2 * i + 1]);
        }
        MPI_Waitall(2 * TOGETHER, requests, MPI_STATUSES_IGNORE);
        MPI_Waitall(2 * MANY, many, MPI_STATUSES_IGNORE);
        again = MPI_Wtime() < until;
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        /* Nobody begins the next round before all have ended this one: its messages would match these receives. */
        MPI_Allreduce(out[0], in[0], LARGEST, MPI_BYTE, MPI_BOR, copy);
        MPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_MIN, copy);
        MPI_Comm_free(&copy);
    }
    if (rank == size - 1) pthread_join(scribbler, NULL);
    MPI_Finalize();
    return 0;
}
