/* The limits: collectives of two processes by hand, without matching, requests, datatypes or other ranks.

       by_hand SECONDS NAME:BYTES...

   NAME, BYTES and SECONDS as in collectives.c, but for barrier and ring. Data goes through shared memory in cells: a
   process fills one, copies as much of its own data and reads one, in turn. Where both send, cells go to and fro,
   because a process writes lines at the least cost that it has read last; else they have their turn in twice as much
   memory as both second caches hold. Data lies in a cell as in its line at home: the cpu's copy instruction takes twice
   as long where only one of both starts with a line. Each case is measured with cells of 16 to 256 kB that are filled
   through the caches and past them, and with data that lands in the caches and past them: the shortest counts. */
#include "../mpi/look.h"
#include <immintrin.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { LEAST = 16 << 10, MOST = 256 << 10, AREA = 64 << 20, SWAPPED = 256 << 10 };

/* A number that only grows, in a line of its own. */
typedef struct {
    _Alignas(LOOK_LINE) _Atomic uint64_t value;
} Count;

/* Cells in one direction; where both send, they change sides. */
typedef struct {
    Count filled[AREA / LEAST], emptied;
    _Alignas(4096) unsigned char cells[AREA + AREA / LEAST * LOOK_LINE];
} Way;

typedef struct {
    Way way[2];
    Count met[2];
    double told[2];
    /* How far into a line the data of each starts. */
    size_t in_line[2];
} Shared;

/* What a process does in one collective. */
typedef struct {
    const unsigned char *sent;
    size_t sent_bytes;
    unsigned char *received;
    size_t received_bytes;
    /* What is added to what is received; nothing where it is only copied. */
    const double *added;
    /* Own data that is copied beside. */
    const unsigned char *own;
    unsigned char *own_copy;
    size_t own_bytes;
} Work;

static Shared *shared;
static int me, fills_past, lands_past;
static size_t cell, cells;
static uint64_t filled, emptied, met;

static void wait_for(Count *count, uint64_t least) {
    while (atomic_load_explicit(&count->value, memory_order_acquire) < least) __builtin_ia32_pause();
}

static void set(Count *count, uint64_t value) { atomic_store_explicit(&count->value, value, memory_order_release); }

static void meet(void) {
    set(&shared->met[me], ++met);
    wait_for(&shared->met[1 - me], met);
}

/* The larger of what both say. */
static double slowest(double mine) {
    shared->told[me] = mine;
    meet();
    double theirs = shared->told[1 - me];
    meet();
    return mine > theirs ? mine : theirs;
}

__attribute__((target("avx2"))) static void copy_past(unsigned char *to, const unsigned char *from, size_t bytes) {
    size_t at = -(uintptr_t)to % sizeof(__m256i), end = bytes - (bytes - at) % sizeof(__m256i);
    memcpy(to, from, at);
    for (; at < end; at += sizeof(__m256i))
        _mm256_stream_si256((__m256i *)(to + at), _mm256_loadu_si256((const __m256i *)(from + at)));
    memcpy(to + end, from + end, bytes - end);
    _mm_sfence();
}

static void copy(int past, unsigned char *to, const unsigned char *from, size_t bytes) {
    if (past) copy_past(to, from, bytes);
    else memcpy(to, from, bytes);
}

static void add(double *restrict to, const double *restrict some, const double *restrict others, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] = some[i] + others[i];
}

static size_t part(size_t bytes, size_t done) { return bytes - done < cell ? bytes - done : cell; }

/* Cell `number` since the start, of the way that a process fills; in turn that of the other one, where they swap. */
static Way *way_of(uint64_t from, int swap, uint64_t number) {
    return &shared->way[swap ? (from + number / cells) % 2 : from];
}

/* Where a process's data lies in a cell. */
static unsigned char *in_cell(Way *way, size_t place, int from) {
    return way->cells + place * (cell + LOOK_LINE) + shared->in_line[from];
}

static void fill(const Work *work, size_t done, int swap) {
    Way *way = way_of((uint64_t)me, swap, filled);
    size_t place = filled % cells;
    /* Where they swap, this process has read the cell itself. */
    if (!swap && filled >= cells) wait_for(&way->emptied, filled + 1 - cells);
    copy(fills_past, in_cell(way, place, me), work->sent + done, part(work->sent_bytes, done));
    set(&way->filled[place], ++filled);
}

static void empty(const Work *work, size_t done, int swap) {
    Way *way = way_of((uint64_t)(1 - me), swap, emptied);
    size_t place = emptied % cells, bytes = part(work->received_bytes, done);
    unsigned char *from = in_cell(way, place, 1 - me), *to = work->received + done;
    wait_for(&way->filled[place], emptied + 1);
    if (work->added) add((double *)to, work->added + done / sizeof(double), (const double *)from, bytes);
    else copy(lands_past, to, from, bytes);
    emptied++;
    if (!swap) set(&way->emptied, emptied);
}

static void do_work(const Work *work) {
    int swap = work->sent_bytes && work->received_bytes;
    size_t sent = 0, received = 0, own = 0;
    while (sent < work->sent_bytes || received < work->received_bytes || own < work->own_bytes) {
        if (sent < work->sent_bytes) {
            fill(work, sent, swap);
            sent += part(work->sent_bytes, sent);
        }
        if (own < work->own_bytes) {
            copy(lands_past, work->own_copy + own, work->own + own, part(work->own_bytes, own));
            own += part(work->own_bytes, own);
        }
        if (received < work->received_bytes) {
            empty(work, received, swap);
            received += part(work->received_bytes, received);
        }
    }
}

static void once(const char *name, unsigned char *in, unsigned char *out, size_t n) {
    Work work = {.sent = in, .received = out};
    int is_root = me == 0, is_gather = !strcmp(name, "gather"), is_scatter = !strcmp(name, "scatter");
    if (!strcmp(name, "bcast")) {
        work = (Work){.sent = in, .sent_bytes = is_root ? n : 0, .received = in, .received_bytes = is_root ? 0 : n};
    } else if (!strcmp(name, "reduce")) {
        work.sent_bytes = is_root ? 0 : n;
        work.received_bytes = is_root ? n : 0;
        work.added = (double *)in;
    } else if (!strcmp(name, "allreduce")) {
        size_t half = n / 2, mine = me * half, theirs = half - mine;
        do_work(&(Work){in + theirs, half, out + mine, half, (double *)(in + mine), NULL, NULL, 0});
        work = (Work){out + mine, half, out + theirs, half, NULL, NULL, NULL, 0};
    } else if (is_gather || is_scatter) {
        int sends = is_gather != is_root;
        work.sent = in + (is_scatter ? n : 0);
        work.sent_bytes = sends ? n : 0;
        work.received = out + (is_gather ? n : 0);
        work.received_bytes = sends ? 0 : n;
        work.own = in;
        work.own_copy = out;
        work.own_bytes = is_root ? n : 0;
    } else {
        int is_alltoall = !strcmp(name, "alltoall");
        size_t other = is_alltoall ? (1 - me) * n : 0, block = is_alltoall ? me * n : 0;
        work = (Work){in + other, n, out + (1 - me) * n, n, NULL, in + block, out + me * n, n};
    }
    do_work(&work);
}

static int is_known(const char *name) {
    const char *known[] = {"bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(name, known[k])) return 1;
    return 0;
}

/* Process p's data is all p + 1. */
static void check(const char *name, const unsigned char *in, const unsigned char *out, size_t bytes) {
    int is_root = me == 0, is_bcast = !strcmp(name, "bcast");
    int has_two = !strcmp(name, "gather") ? is_root : !strcmp(name, "allgather") || !strcmp(name, "alltoall");
    int has_one = is_bcast || is_root || has_two || !strcmp(name, "allreduce") || !strcmp(name, "scatter");
    const double *got = (const double *)(is_bcast ? in : out);
    size_t n = bytes / sizeof(double);
    double first = strstr(name, "reduce") ? 3 : 1;
    for (size_t i = 0; i < 2 * n; i++)
        if ((i < n ? has_one && got[i] != first : has_two && got[i] != 2)) {
            fprintf(stderr, "%s: %g at %zu in process %d\n", name, got[i], i, me);
            _exit(1);
        }
}

static void measure(const char *name, size_t bytes, double seconds, Blocks *blocks) {
    unsigned char *in = malloc(2 * bytes), *out = malloc(2 * bytes);
    for (size_t i = 0; i < 2 * bytes / sizeof(double); i++) ((double *)in)[i] = me + 1;
    memset(out, 0, 2 * bytes);
    int both = !strncmp(name, "all", 3);
    size_t most = both ? SWAPPED < bytes ? SWAPPED : bytes : look_cells_of_caches() * (size_t)LOOK_CELL;
    cells = most / cell ? most / cell : 1;
    filled = emptied = 0;
    shared->in_line[me] = (uintptr_t)in % LOOK_LINE;
    meet();
    if (me == 0)
        for (int w = 0; w < 2; w++) {
            for (size_t i = 0; i < cells; i++) set(&shared->way[w].filled[i], 0);
            set(&shared->way[w].emptied, 0);
        }
    double began = now_us();
    int times = 2;
    blocks_begin(blocks);
    for (int b = -2; b < BLOCKS; b++) {
        meet();
        double start = now_us();
        for (int i = 0; i < times; i++) once(name, in, out, bytes);
        double took = slowest((now_us() - start) / times);
        if (b >= 0) blocks_add(blocks, took);
        int more = repeats(took, 2000);
        if (b < 0 || more > times) times = more;
        if (slowest(now_us() - began) >= seconds * 1e6 && blocks->n >= 4) break;
    }
    check(name, in, out, bytes);
    free(in);
    free(out);
}

static double median(const Blocks *blocks) {
    double sorted[BLOCKS];
    memcpy(sorted, blocks->us, sizeof sorted);
    return quantile(sorted, blocks->n, 0.5);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "use: by_hand SECONDS NAME:BYTES...\n");
        return 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("by_hand");
        return 1;
    }
    int can_go_past = __builtin_cpu_supports("avx2");
    pid_t child = fork();
    me = child == 0;
    if (me) prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would wait for ever for a process that was killed */
    pin(me);
    look_open(me, 2);
    for (int a = 2; a < argc; a++) {
        char name[32];
        size_t bytes = 0;
        if (sscanf(argv[a], "%31[^:]:%zu", name, &bytes) != 2 || !is_known(name) || bytes < LEAST || bytes % LEAST) {
            if (!me) fprintf(stderr, "%s: NAME:BYTES of a collective of data, in multiples of %d\n", argv[a], LEAST);
            _exit(2);
        }
        static Blocks shortest, blocks;
        shortest.n = 0;
        for (int past = 0; past < (can_go_past ? 4 : 1); past++) {
            fills_past = past & 1;
            lands_past = past >> 1;
            for (cell = LEAST; cell <= MOST && cell < 2 * bytes; cell *= 2) {
                measure(name, bytes, atof(argv[1]), &blocks);
                if (!shortest.n || median(&blocks) < median(&shortest)) shortest = blocks;
            }
        }
        if (me) continue;
        printf("{\"name\": \"%s\", \"size\": %zu, \"ranks\": 2, ", name, bytes);
        blocks_print(&shortest);
    }
    if (me) _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
