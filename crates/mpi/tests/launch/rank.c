/* A rank that behaves as its first argument says, for tests of the launcher. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int is(const char *what, const char *word) { return !strcmp(what, word); }

static volatile sig_atomic_t came, times;
static void handler(int signal) { came = signal; times++; }

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0, rank, size;
    if (is(what, "before")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int last = rank == size - 1, token;
    if (is(what, "hello")) printf("rank %d of %d\n", rank, size);
    /* The last rank does it; the others wait for a message that never comes. */
    if (is(what, "abort") && last) MPI_Abort(MPI_COMM_WORLD, number);
    if (is(what, "die") && last) raise(number);
    if (is(what, "leave") && last) exit(number);
    if (is(what, "compute") && last) exit(number);
    if (is(what, "spin") || is(what, "compute"))
        for (volatile long i = 0;; i++) continue;
    if (is(what, "abort") || is(what, "die") || is(what, "leave") || is(what, "wait"))
        MPI_Recv(&token, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* Messages of so many bytes for ever, to both sides. */
    if (is(what, "exchange")) {
        char *data = calloc(2, number);
        for (int next = (rank + 1) % size, before = (rank + size - 1) % size;;)
            MPI_Sendrecv(data, number, MPI_CHAR, next, 1, data + number, number, MPI_CHAR, before, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    }
    if (is(what, "reduce")) {
        double *data = calloc(2, number);
        for (;;) MPI_Allreduce(data, data + number / 8, number / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (is(what, "twice")) MPI_Init(NULL, NULL);
    if (is(what, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            int flag;
            MPI_Finalized(&flag);
            if (!flag) _exit(9);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        printf("rank %d: child ended with %d\n", rank, WEXITSTATUS(status));
    }
    if (is(what, "nested")) {
        char command[1000];
        snprintf(command, sizeof command, "%s hello", argv[0]);
        fflush(stdout);
        if (system(command) != 0) printf("nested program failed\n");
    }
    if (is(what, "signal")) {
        signal(number, handler);
        if (rank == 0) printf("ready\n"), fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        while (!came) usleep(1000);
        usleep(100000);
        printf("rank %d got %d, %d times\n", rank, came, times);
    }
    if (is(what, "orphan") && rank == 0) {
        if (fork() == 0) {
            setsid();
            for (;;) pause();
        }
    }
    /* Requests that nobody waits for, of three kinds. */
    if (is(what, "leak")) {
        MPI_Request lost[3];
        MPI_Irecv(&token, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &lost[0]);
        MPI_Irecv(&token, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &lost[1]);
        MPI_Recv_init(&token, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &lost[2]);
    }
    /* A message whose request was freed, as large as it may be before it needs the receiver, and larger. */
    if (is(what, "freed")) {
        static char data[1 << 20], here[1 << 20];
        MPI_Request request;
        if (rank == 0) {
            memset(data, 1, sizeof data);
            MPI_Isend(data, number, MPI_CHAR, last ? 0 : size - 1, 1, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
        if (last) {
            if (rank != 0) usleep(200000);
            MPI_Recv(here, number, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d %d\n", here[0], here[number - 1]);
        }
    }
    MPI_Finalize();
    if (is(what, "after")) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is(what, "code")) return rank == number ? 3 : 0;
    return 0;
}
