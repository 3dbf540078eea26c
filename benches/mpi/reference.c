/* The limits: what two processes reach by hand, without matching, requests or datatypes.

       reference wire            one cache line to and fro: {"p50_ns", "p90_ns"} per hop; and a stream: {"cell_us"} for
                                 a cell of 16 kB behind another, from process 0 to 1
       reference pingpong A|B S  one-way time of messages of S bytes, A or B as in latency.c

   Up to 48 bytes a message and its stamp are one line. A larger one goes through shared memory in cells of 16 kB: the
   receiver copies one while the sender writes the next. The answer goes back in the cells that the message came in. */
#include "measure.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 64, INLINE = 48, CELL = 16384, MOST = 64 << 20 };

typedef struct {
    _Alignas(LINE) _Atomic uint32_t stamp;
    uint32_t fill[3];
    unsigned char data[INLINE];
} Line;

/* Messages in one direction: lines, and how many cells were filled; of a stream, how many were read. */
typedef struct {
    Line line[256];
    _Alignas(LINE) _Atomic uint64_t filled;
    _Alignas(LINE) _Atomic uint64_t read;
} Way;

typedef struct {
    Way way[2]; /* [0]: from process 0 to 1, [1]: back */
    _Alignas(4096) unsigned char cells[MOST];
} Shared;

static Shared *shared;
static uint32_t sent, received;
static uint64_t filled[2];

static void pause_until(_Atomic uint32_t *word, uint32_t value) {
    while (atomic_load_explicit(word, memory_order_acquire) != value) __builtin_ia32_pause();
}

static void send_message(int to, const void *buffer, size_t bytes) {
    Way *way = &shared->way[1 - to];
    uint32_t stamp = ++sent;
    if (bytes <= INLINE) {
        Line *line = &way->line[stamp % 256];
        memcpy(line->data, buffer, bytes);
        atomic_store_explicit(&line->stamp, stamp, memory_order_release);
        return;
    }
    for (size_t at = 0; at < bytes; at += CELL) {
        memcpy(shared->cells + at, (const unsigned char *)buffer + at, bytes - at < CELL ? bytes - at : CELL);
        atomic_store_explicit(&way->filled, ++filled[1 - to], memory_order_release);
    }
}

static void receive_message(int from, void *buffer, size_t bytes) {
    Way *way = &shared->way[from];
    uint32_t stamp = ++received;
    if (bytes <= INLINE) {
        Line *line = &way->line[stamp % 256];
        pause_until(&line->stamp, stamp);
        memcpy(buffer, line->data, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += CELL) {
        filled[from]++;
        while (atomic_load_explicit(&way->filled, memory_order_acquire) < filled[from]) __builtin_ia32_pause();
        memcpy((unsigned char *)buffer + at, shared->cells + at, bytes - at < CELL ? bytes - at : CELL);
    }
}

/* The median of blocks, in us, sorted in `block`. */
static double measure(int me, char variant, size_t bytes, double *block) {
    unsigned char *out = aligned_alloc(4096, bytes + 4096), *in = out;
    if (variant == 'A') in = aligned_alloc(4096, bytes + 4096);
    memset(out, me + 1, bytes + 4096);
    memset(in, me + 1, bytes + 4096);
    double once = 0;
    int rounds = 20;
    for (int b = -2; b < BLOCKS; b++) {
        double start = now_us();
        for (int i = 0; i < rounds; i++) {
            if (me == 0) {
                send_message(1, out, bytes);
                receive_message(1, in, bytes);
            } else {
                receive_message(0, in, bytes);
                send_message(0, out, bytes);
            }
        }
        once = (now_us() - start) / (2.0 * rounds);
        if (b >= 0) block[b] = once;
        else if (b == -2) {
            /* both have to agree on the number: process 0 says it */
            int32_t agreed = repeats(2 * once, 2000);
            if (me == 0) send_message(1, &agreed, sizeof agreed);
            else receive_message(0, &agreed, sizeof agreed);
            rounds = agreed;
        }
    }
    if (bytes && in[bytes - 1] != (variant == 'A' ? 2 - me : 1)) {
        fprintf(stderr, "what arrived is not what was sent\n");
        _exit(1);
    }
    free(out);
    if (in != out) free(in);
    return quantile(block, BLOCKS, 0.5);
}

static void pingpong(int me, char variant, size_t bytes) {
    double block[BLOCKS];
    if (bytes > MOST) {
        fprintf(stderr, "%zu bytes: at most %d are possible\n", bytes, MOST);
        _exit(2);
    }
    double p50 = measure(me, variant, bytes, block);
    if (me == 0)
        printf("{\"size\": %zu, \"variant\": \"%c\", \"us\": %.4f, \"min_us\": %.4f, \"blocks\": %d}\n",
               bytes, variant, p50, block[0], BLOCKS);
}

/* The median time of a cell in a stream. The two cpus of a virtual machine may hand over lines one by one as fast as
   before, and many in a row three times slower. */
static double stream(int me) {
    enum { CELLS = 200, MANY = 21, TURNING = 128, AHEAD = 16 };
    static unsigned char data[CELL];
    Way *way = &shared->way[0];
    double block[MANY];
    uint64_t cell = 0;
    for (int b = -2; b < MANY; b++) {
        double start = now_us();
        for (int i = 0; i < CELLS; i++, cell++) {
            unsigned char *place = shared->cells + cell % TURNING * CELL;
            if (me == 0) {
                while (cell - atomic_load_explicit(&way->read, memory_order_acquire) >= AHEAD) __builtin_ia32_pause();
                memcpy(place, data, CELL);
                atomic_store_explicit(&way->filled, cell + 1, memory_order_release);
            } else {
                while (atomic_load_explicit(&way->filled, memory_order_acquire) <= cell) __builtin_ia32_pause();
                memcpy(data, place, CELL);
                atomic_store_explicit(&way->read, cell + 1, memory_order_release);
            }
        }
        if (b >= 0) block[b] = (now_us() - start) / CELLS;
    }
    return quantile(block, MANY, 0.5);
}

static void wire(int me) {
    enum { HOPS = 2000, MANY = 101 };
    double block[MANY];
    for (int b = -3; b < MANY; b++) {
        double start = now_us();
        for (uint32_t i = 0; i < HOPS; i++) {
            uint32_t stamp = ++sent;
            if (me == 0) {
                atomic_store_explicit(&shared->way[0].line[0].stamp, stamp, memory_order_release);
                pause_until(&shared->way[1].line[0].stamp, stamp);
            } else {
                pause_until(&shared->way[0].line[0].stamp, stamp);
                atomic_store_explicit(&shared->way[1].line[0].stamp, stamp, memory_order_release);
            }
        }
        if (b >= 0) block[b] = (now_us() - start) * 1e3 / (2.0 * HOPS);
    }
    double cell_us = stream(me);
    if (me == 0) {
        double p50 = quantile(block, MANY, 0.5), p90 = quantile(block, MANY, 0.9);
        printf("{\"p50_ns\": %.2f, \"p90_ns\": %.2f, \"cell_us\": %.3f, \"blocks\": %d}\n", p50, p90, cell_us, MANY);
    }
}

int main(int argc, char **argv) {
    if (argc < 2 || (strcmp(argv[1], "wire") && (strcmp(argv[1], "pingpong") || argc < 4))) {
        fprintf(stderr, "use: reference wire | reference pingpong A|B BYTES...\n");
        return 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    int me = child == 0;
    if (me) prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would wait for ever for a process that was killed */
    pin(me);
    if (!strcmp(argv[1], "wire")) wire(me);
    else for (int i = 3; i < argc; i++) pingpong(me, argv[2][0], strtoul(argv[i], NULL, 10));
    if (me) _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
