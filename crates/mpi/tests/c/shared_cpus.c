/* Bcast, gather, reduce, allreduce and allgather of data from some kB on, as ranks that share cpus do them: sizes
   around the limits of pieces, each root, communicators that overlap, many in a row without a word in between, ranks
   that come late, and ranks that bind themselves to a cpu. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <unistd.h>

static const int sizes[] = {511, 513, 1025, 4097, 16383, 16384, 16385, 40000, 65537, 100003};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 100003 };

static int in[MOST + 1], out[MOST + 1];

static int value(int number, int who, int i) { return number * 31 + who * 7 + i % 1000; }

static void bcast(MPI_Comm comm, int who, int root, int n, int number)
{
    for (int i = 0; i <= n; i++) in[i] = who == root ? value(number, root, i) : -1;
    MPI_Bcast(in, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++) EQUAL(in[i], value(number, root, i));
    if (who != root) EQUAL(in[n], -1);
}

static void reduce(MPI_Comm comm, int who, int root, int n, int number, int in_place)
{
    int ranks, at_root = who == root;
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < n; i++) in[i] = out[i] = value(number, who, i);
    out[n] = -1;
    if (!in_place || !at_root) for (int i = 0; i < n; i++) out[i] = -1;
    MPI_Reduce(in_place && at_root ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; i < n; i++) EQUAL(in[i], value(number, who, i));
    for (int i = 0; i < n; i++) {
        EQUAL(out[i], at_root ? ranks * value(number, 0, i) + 7 * ranks * (ranks - 1) / 2 : -1);
    }
    EQUAL(out[n], -1);
}

static void allreduce(MPI_Comm comm, int who, int n, int number, int in_place)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < n; i++) in[i] = out[i] = value(number, who, i);
    out[n] = -1;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++) EQUAL(out[i], ranks * value(number, 0, i) + 7 * ranks * (ranks - 1) / 2);
    EQUAL(out[n], -1);
}

static int all[8 * MOST + 1];

static void allgather(MPI_Comm comm, int who, int n, int number, int in_place)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    if (ranks > 8) return;
    for (int i = 0; i < ranks * n; i++) all[i] = in_place && i / n == who ? value(number, who, i % n) : -1;
    for (int i = 0; i < n; i++) in[i] = value(number, who, i);
    all[ranks * n] = -1;
    MPI_Allgather(in_place ? MPI_IN_PLACE : in, n, MPI_INT, all, n, MPI_INT, comm);
    for (int i = 0; i < ranks * n; i++) EQUAL(all[i], value(number, i / n, i % n));
    EQUAL(all[ranks * n], -1);
}

static void gather(MPI_Comm comm, int who, int root, int n, int number, int in_place)
{
    int ranks, at_root = who == root;
    MPI_Comm_size(comm, &ranks);
    if (ranks > 8) return;
    for (int i = 0; i < ranks * n; i++) all[i] = in_place && at_root && i / n == who ? value(number, who, i % n) : -1;
    for (int i = 0; i < n; i++) in[i] = value(number, who, i);
    all[ranks * n] = -1;
    MPI_Gather(in_place && at_root ? MPI_IN_PLACE : in, n, MPI_INT, all, n, MPI_INT, root, comm);
    for (int i = 0; i < ranks * n; i++) EQUAL(all[i], at_root ? value(number, i / n, i % n) : -1);
    EQUAL(all[ranks * n], -1);
}

static void some(MPI_Comm comm, int number)
{
    int who, ranks, n = sizes[number % SIZES];
    MPI_Comm_rank(comm, &who);
    MPI_Comm_size(comm, &ranks);
    bcast(comm, who, number % ranks, n, number);
    reduce(comm, who, number / 2 % ranks, n, number, number % 2);
    allreduce(comm, who, n, number, number / 2 % 2);
    allgather(comm, who, n, number, number / 3 % 2);
    gather(comm, who, number / 2 % ranks, n, number, number % 2);
}

/* Of all ranks, of those of each parity, and of neighbours, in an order that makes slots of all mix. */
static void overlapping(void)
{
    MPI_Comm parity, pairs;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &parity);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pairs);
    for (int number = 0; number < 3 * SIZES; number++) {
        some(MPI_COMM_WORLD, number);
        some(parity, number);
        some(pairs, number + 3);
    }
    MPI_Comm_free(&parity);
    MPI_Comm_free(&pairs);
}

/* Blocks of more pieces than there are slots, behind one another. */
static void long_blocks(void)
{
    enum { LONG = 350003 };
    int *mine = malloc(LONG * sizeof(int)), *blocks = malloc((size_t)size * LONG * sizeof(int));
    for (int t = 0; t < 4 && size <= 8; t++) {
        int n = t % 2 ? LONG : LONG / 2, root = t % size;
        for (int i = 0; i < n; i++) mine[i] = value(t, rank, i);
        memset(blocks, 0, (size_t)size * n * sizeof(int));
        MPI_Allgather(mine, n, MPI_INT, blocks, n, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size * n; i++) EQUAL(blocks[i], value(t, i / n, i % n));
        memset(blocks, 0, (size_t)size * n * sizeof(int));
        MPI_Gather(mine, n, MPI_INT, blocks, n, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < size * n; i++) EQUAL(blocks[i], value(t, i / n, i % n));
    }
    free(mine);
    free(blocks);
}

/* No rank waits for another but where it has to; the last one is late. */
static void in_a_row(int n)
{
    enum { TIMES = 30 };
    static int data[TIMES][20000];
    if (rank == size - 1) usleep(2000);
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < n; i++) data[t][i] = rank == t % 2 ? value(t, 1, i) : -1;
        MPI_Bcast(data[t], n, MPI_INT, t % 2 % size, MPI_COMM_WORLD);
    }
    for (int t = 0; t < TIMES && size > 1; t++) {
        for (int i = 0; i < n; i++) EQUAL(data[t][i], value(t, 1, i));
    }
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < n; i++) in[i] = t + i;
        MPI_Reduce(in, data[t], n, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < n; i++) EQUAL(data[t][i], t + i);
    }
}

/* So often, each way is tried in which data may go. */
enum { OFTEN = 60 };

/* Of one size again and again, with roots by turns and blocks of a derived type: each way is tried in between. */
static void gathers(int n)
{
    MPI_Datatype two;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    MPI_Type_commit(&two);
    for (int t = 0; t < 3 * OFTEN; t++) gather(MPI_COMM_WORLD, rank, t / 50 % size, n, t, t % 3 == 0);
    for (int t = 0; t < 3 && size <= 8; t++) {
        int pairs = n / 2, each = 2 * pairs;
        for (int i = 0; i < 3 * pairs; i++) in[i] = value(t, rank, i);
        for (int i = 0; i < size * each; i++) all[i] = -1;
        /* The root takes pairs in a row; all send such as have room between them. */
        MPI_Gather(in, pairs, two, all, each, MPI_INT, t % size, MPI_COMM_WORLD);
        for (int i = 0; rank == t % size && i < size * each; i++) {
            int at = i % each / 2 * 3 + i % 2 * 2;
            EQUAL(all[i], value(t, i / each, at));
        }
    }
    MPI_Type_free(&two);
}

/* The same operands give the same bits, on all ranks, and each time. */
static void same_bits(void)
{
    enum { N = 50000 };
    static double operand[N], first[N], again[N], roots[N], reduced[N];
    for (int i = 0; i < N; i++) operand[i] = 1.0 / (1 + (rank * 7919 + i * 1009) % 100003);
    MPI_Allreduce(operand, first, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memcpy(roots, first, sizeof first);
    MPI_Bcast(roots, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK(!memcmp(first, roots, sizeof first));
    MPI_Reduce(operand, reduced, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int t = 0; t < OFTEN; t++) {
        MPI_Allreduce(operand, again, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(!memcmp(first, again, sizeof first));
        MPI_Reduce(operand, again, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) CHECK(!memcmp(reduced, again, sizeof reduced));
    }
}

/* Elements of all sizes, and such as have room between their parts. */
static void elements(int number)
{
    enum { N = 30000 };
    static struct { double value; int index; } pairs[N], least[N];
    static long double longs[N], sums[N];
    static signed char bytes[N], total[N];
    for (int i = 0; i < N; i++) {
        pairs[i].value = (rank + i) % size, pairs[i].index = rank;
        longs[i] = rank + i + number, bytes[i] = rank + (i + number) % 10;
    }
    MPI_Reduce(pairs, least, N, MPI_DOUBLE_INT, MPI_MINLOC, 0, MPI_COMM_WORLD);
    MPI_Reduce(longs, sums, N, MPI_LONG_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(bytes, total, N, MPI_INT8_T, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < N; i++) {
        CHECK(least[i].value == 0 && least[i].index == (size - i % size) % size);
        CHECK(sums[i] == (long double)(i + number) * size + size * (size - 1) / 2);
        EQUAL(total[i], (i + number) % 10 * size + size * (size - 1) / 2);
    }
}

/* Takes cpus in turn, as programs do that place themselves. */
static void bind_to_one(void)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int left = rank % CPU_COUNT(&all), cpu = 0;
    while (!CPU_ISSET(cpu, &all) || left--) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(void)
{
    start();
    overlapping();
    in_a_row(700), in_a_row(20000);
    gathers(16000), gathers(32768), gathers(60000);
    long_blocks();
    same_bits();
    for (int number = 0; number < OFTEN; number++) elements(number);
    bind_to_one();
    MPI_Comm bound;
    MPI_Comm_dup(MPI_COMM_WORLD, &bound);
    for (int number = 0; number < 2 * SIZES; number++) some(bound, number);
    MPI_Comm_free(&bound);
    return finish("shared_cpus");
}
