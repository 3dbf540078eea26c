/* Ranks are stopped and continued at any moment, by a process of their own; nothing is lost and nobody gives up. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

static void stop_and_go(pid_t whom)
{
    for (int i = 0; i < 20; i++) {
        usleep(500 + 37 * (whom + i) % 3000);
        if (getppid() != whom || kill(whom, SIGSTOP)) break;
        usleep(1000 + 11 * (whom + i) % 4000);
        kill(whom, SIGCONT);
    }
    _exit(0);
}

int main(void)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) stop_and_go(parent);
    start();
    enum { N = 100000 };
    int *out = malloc(N * sizeof(int)), *in = malloc(N * sizeof(int)), next = (rank + 1) % size,
        previous = (rank + size - 1) % size;
    int going = 1;
    for (int round = 0; going; round++) {
        int n = round % 5 == 0 ? N : round % 5 == 1 ? 3000 : 2, sum, mine;
        for (int i = 0; i < n; i++) out[i] = i + rank + round;
        MPI_Sendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) EQUAL(in[i], i + previous + round);
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EQUAL(sum, size * round);
        mine = waitpid(child, NULL, WNOHANG) == 0; /* until all the children have done their part */
        if (!mine) child = -1;
        MPI_Allreduce(&mine, &going, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    return finish("stopped");
}
