/* A large message arrives while its sender is not inside MPI: the receiver copies it alone. The sender sleeps until
 * a signal tells it that the message is there. (Only where the kernel lets processes copy from each other.) */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>
#include "../c/check.h"

static int may_copy(pid_t from, const void *address)
{
    long word;
    struct iovec here = {&word, sizeof word}, there = {(void *)address, sizeof word};
    return process_vm_readv(from, &here, 1, &there, 1, 0) == (ssize_t)sizeof word;
}

static void alone(size_t bytes)
{
    int number;
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    if (rank == 1) {
        unsigned char *data = malloc(bytes);
        MPI_Request request;
        memset(data, 0x3c, bytes);
        MPI_Isend(data, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        sigwait(&usr1, &number);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(data);
    } else {
        unsigned char *data = calloc(bytes, 1);
        pid_t sender;
        MPI_Recv(&sender, sizeof sender, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < bytes; i++) EQUAL(data[i], 0x3c);
        kill(sender, SIGUSR1);
        free(data);
    }
}

int main(void)
{
    start();
    static const size_t lengths[] = {2 << 20, 8 << 20, 64 << 20};
    sigset_t usr1;
    pid_t me = getpid(), other;
    static long word = 1;
    void *where = &word;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    int possible = 1;
    if (rank == 1) {
        MPI_Send(&me, sizeof me, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        MPI_Send(&where, sizeof where, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Recv(&other, sizeof other, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&where, sizeof where, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        possible = may_copy(other, where);
    }
    MPI_Bcast(&possible, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; possible && i < 3; i++) {
        if (rank == 1) MPI_Send(&me, sizeof me, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        alone(lengths[i]);
    }
    return finish("copies_alone");
}
