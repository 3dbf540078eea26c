/* A look at how the two cpus are, in the measured program itself, before and after each block of a case.

   The cpus of a virtual machine may share a cache now and none a second later. A look takes a fraction of a
   millisecond, so that blocks in which the cpus changed can be left out, and the others told apart. It is done by hand,
   through a file that BENCH_LOOK names: no library is used. Without BENCH_LOOK all looks are zero. */
#include "measure.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Cells of the stream, at least and at most. Hops and cells of each part of a look, parts. */
enum { LOOK_LINE = 64, LOOK_CELL = 16384, LOOK_CELLS = 256, LOOK_CELLS_MOST = 4096, LOOK_AHEAD = 16 };
enum { HOPS = 150, STREAMED = 8, PARTS = 5 };

/* wire_ns: a line from one cpu to the other. cell_us: a cell of 16 kB in a stream from rank 0 to rank 1. Of one rank
   alone: 0, and a cell copied in its own caches, because a cpu may be slower for a time. */
typedef struct {
    double wire_ns, cell_us;
} Look;

typedef struct {
    _Alignas(LOOK_LINE) _Atomic uint32_t arrived;
    _Alignas(LOOK_LINE) _Atomic uint32_t over;
    struct {
        _Alignas(LOOK_LINE) _Atomic uint32_t value;
    } stamp[2];
    _Alignas(LOOK_LINE) _Atomic uint32_t filled;
    _Alignas(LOOK_LINE) _Atomic uint32_t emptied;
    _Alignas(4096) unsigned char cells[][LOOK_CELL];
} LookArea;

static LookArea *look_area;
static int look_rank, look_ranks, look_alone;
static uint32_t look_cells;
static uint32_t looks, look_stamp, look_cell;

/* The median time of a hop. */
static double look_wire_ns(void) {
    double part[PARTS];
    _Atomic uint32_t *mine = &look_area->stamp[look_rank].value, *other = &look_area->stamp[1 - look_rank].value;
    for (int p = 0; p < PARTS; p++) {
        double start = now_us();
        for (int i = 0; i < HOPS; i++) {
            look_stamp++;
            if (look_rank == 0) atomic_store_explicit(mine, look_stamp, memory_order_release);
            while (atomic_load_explicit(other, memory_order_acquire) != look_stamp) __builtin_ia32_pause();
            if (look_rank == 1) atomic_store_explicit(mine, look_stamp, memory_order_release);
        }
        part[p] = (now_us() - start) * 1e3 / (2.0 * HOPS);
    }
    return quantile(part, PARTS, 0.5);
}

/* The median time of a cell, once the stream has begun. */
static double look_cell_us(void) {
    static unsigned char data[LOOK_CELL];
    double part[PARTS], start = 0;
    uint32_t from = look_cell + 2 * STREAMED;
    for (; look_cell != from + PARTS * STREAMED; look_cell++) {
        uint32_t done = look_cell - from;
        if (done < PARTS * STREAMED && done % STREAMED == 0) {
            if (done) part[done / STREAMED - 1] = (now_us() - start) / STREAMED;
            start = now_us();
        }
        unsigned char *cell = look_area->cells[look_cell % look_cells];
        if (look_rank == 0) {
            while (look_cell - atomic_load_explicit(&look_area->emptied, memory_order_acquire) >= LOOK_AHEAD)
                __builtin_ia32_pause();
            memcpy(cell, data, LOOK_CELL);
            atomic_store_explicit(&look_area->filled, look_cell + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(&look_area->filled, memory_order_acquire) == look_cell) __builtin_ia32_pause();
            memcpy(data, cell, LOOK_CELL);
            atomic_store_explicit(&look_area->emptied, look_cell + 1, memory_order_release);
        }
    }
    part[PARTS - 1] = (now_us() - start) / STREAMED;
    return quantile(part, PARTS, 0.5);
}

/* The median time of a cell that one rank copies alone. */
static double look_alone_us(void) {
    static unsigned char from[LOOK_CELL], to[LOOK_CELL];
    double part[PARTS];
    for (int p = -1; p < PARTS; p++) {
        double start = now_us();
        for (int i = 0; i < STREAMED; i++) {
            memcpy(to, from, LOOK_CELL);
            __asm__ volatile("" ::"r"(from), "r"(to) : "memory");
        }
        /* The first ones only fetch the cells. */
        if (p >= 0) part[p] = (now_us() - start) / STREAMED;
    }
    return quantile(part, PARTS, 0.5);
}

/* All ranks look at the same time: ranks 0 and 1 measure, the others are asleep. */
static inline Look look(void) {
    if (look_alone) return (Look){0, look_alone_us()};
    if (!look_area) return (Look){0, 0};
    uint32_t this = ++looks;
    Look found = {0, 0};
    atomic_fetch_add(&look_area->arrived, 1);
    if (look_rank > 1) {
        while (atomic_load(&look_area->over) < this) usleep(100);
        return found;
    }
    /* Who only passes its cpu on may starve others: a run of 8 ranks once stood still, while the kernel said that none
       of its own threads had run on either cpu for 75 s. */
    for (int passed = 0; atomic_load(&look_area->arrived) < this * look_ranks; passed++) {
        if (passed < 1000) sched_yield();
        else usleep(100);
    }
    found.wire_ns = look_wire_ns();
    found.cell_us = look_cell_us();
    if (look_rank == 0) atomic_store(&look_area->over, this);
    return found;
}

/* Twice what the second caches of the two cpus hold, which else would show what they held before. */
static uint32_t look_cells_of_caches(void) {
    long cells = 4 * sysconf(_SC_LEVEL2_CACHE_SIZE) / LOOK_CELL;
    return cells < LOOK_CELLS ? LOOK_CELLS : cells > LOOK_CELLS_MOST ? LOOK_CELLS_MOST : (uint32_t)cells;
}

/* Before the first look. Called by as many ranks as then look. */
static inline void look_open(int rank, int ranks) {
    const char *path = getenv("BENCH_LOOK");
    look_rank = rank;
    look_ranks = ranks;
    look_alone = path && ranks == 1;
    if (!path || look_alone) return;
    int file = open(path, O_RDWR);
    void *area = MAP_FAILED;
    look_cells = look_cells_of_caches();
    size_t bytes = sizeof *look_area + (size_t)look_cells * LOOK_CELL;
    if (file >= 0 && !ftruncate(file, (off_t)bytes))
        area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    if (area == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(file);
    look_area = area;
    /* The first time that a cell is used takes longer. */
    for (uint32_t cells = 0; cells <= look_cells; cells += (2 + PARTS) * STREAMED) look();
}

/* The blocks of one case, each between two looks. */
typedef struct {
    int n;
    double us[BLOCKS];
    Look looks[BLOCKS + 1];
} Blocks;

static inline void blocks_begin(Blocks *blocks) {
    blocks->n = 0;
    blocks->looks[0] = look();
}

static inline void blocks_add(Blocks *blocks, double us) {
    blocks->us[blocks->n++] = us;
    blocks->looks[blocks->n] = look();
}

/* The rest of a line of JSON: the median, and each block with its looks. */
static inline void blocks_print(const Blocks *blocks) {
    double sorted[BLOCKS];
    memcpy(sorted, blocks->us, sizeof sorted);
    printf("\"us\": %.5f, \"block_us\": [", quantile(sorted, blocks->n, 0.5));
    for (int b = 0; b < blocks->n; b++) printf(b ? ", %.5f" : "%.5f", blocks->us[b]);
    printf("], \"wire_ns\": [");
    for (int b = 0; b <= blocks->n; b++) printf(b ? ", %.1f" : "%.1f", blocks->looks[b].wire_ns);
    printf("], \"cell_us\": [");
    for (int b = 0; b <= blocks->n; b++) printf(b ? ", %.3f" : "%.3f", blocks->looks[b].cell_us);
    printf("]}\n");
    fflush(stdout);
}
