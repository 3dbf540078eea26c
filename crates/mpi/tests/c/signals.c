/* A timer's signals during every kind of call; child processes by system(). */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include "check.h"

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks++;
}

int main(void)
{
    start();
    struct sigaction action;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    memset(&action, 0, sizeof action);
    action.sa_handler = tick; /* no SA_RESTART: system calls are interrupted */
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    enum { N = 200000 };
    int *out = malloc(N * sizeof(int)), *in = malloc(N * sizeof(int)), next = (rank + 1) % size,
        previous = (rank + size - 1) % size;
    for (int round = 0;; round++) {
        int n = round % 4 == 0 ? N : round % 4 == 1 ? 5000 : 3, sum, last;
        for (int i = 0; i < n; i++) out[i] = i + rank + round;
        MPI_Sendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) EQUAL(in[i], i + previous + round);
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(sum, size * round);
        MPI_Barrier(MPI_COMM_WORLD);
        last = round >= 59 && ticks >= 20; /* all stop together */
        MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        if (last) break;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    EQUAL(system("exit 3") >> 8, 3);
    FILE *pipe = popen("echo child", "r");
    char line[20] = "";
    CHECK(pipe != NULL && fgets(line, sizeof line, pipe) != NULL);
    pclose(pipe);
    CHECK(!strcmp(line, "child\n"));
    free(out);
    free(in);
    return finish("signals");
}
