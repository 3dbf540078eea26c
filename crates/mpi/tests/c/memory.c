/* Buffers in every kind of memory: constant, static, stack, mapped, shared, odd addresses, page ends. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

enum { N = 300000 };
static const char constant[N] = {1, 2, 3, 4, 5};
static char statically[N];
static int next, previous;

static void from_constants(void)
{
    MPI_Request request;
    MPI_Irecv(statically, N, MPI_CHAR, previous, 1, MPI_COMM_WORLD, &request);
    MPI_Send(constant, N, MPI_CHAR, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!memcmp(statically, constant, N));
}

/* The last byte of the buffer is the last of its page, with nothing mapped behind it. */
static void at_the_end_of_pages(int flags)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 64 * page;
    char *out = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    char *in = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    CHECK(out != MAP_FAILED && in != MAP_FAILED);
    munmap(out + bytes, page);
    munmap(in + bytes, page);
    static const int lengths[] = {0, 1, 7, 39, 40, 41, 64, 100, 4096, 5000, 70000, 200000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k];
        char *from = out + bytes - n, *to = in + bytes - n;
        for (int i = 0; i < n; i++) from[i] = (char)(i + rank + n), to[i] = 0;
        MPI_Sendrecv(from, n, MPI_CHAR, next, 2, to, n, MPI_CHAR, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) EQUAL(to[i], (char)(i + previous + n));
    }
    munmap(out, bytes);
    munmap(in, bytes);
}

static void at_odd_addresses(void)
{
    char out[70], in[70];
    double x = rank + 0.5, y;
    for (int shift = 0; shift < 9; shift++) {
        memcpy(out + shift, &x, sizeof x);
        MPI_Sendrecv(out + shift, 1, MPI_DOUBLE, next, 3, in + (shift * 5) % 9, 1, MPI_DOUBLE, previous, 3,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(&y, in + (shift * 5) % 9, sizeof y);
        CHECK(y == previous + 0.5);
    }
}

/* Pages that were never touched read as zeros, and arrive as zeros. */
static void untouched(void)
{
    char *out = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *in = malloc(1 << 22);
    memset(in, 1, 1 << 22);
    MPI_Sendrecv(out, 1 << 22, MPI_CHAR, next, 4, in, 1 << 22, MPI_CHAR, previous, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 1 << 22; i++)
        if (in[i]) EQUAL(in[i], 0);
    munmap(out, 1 << 22);
    free(in);
}

int main(void)
{
    start();
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    from_constants();
    at_the_end_of_pages(MAP_PRIVATE);
    at_the_end_of_pages(MAP_SHARED);
    at_odd_addresses();
    untouched();
    return finish("memory");
}
