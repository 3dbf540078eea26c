/* The limits: what two processes reach by hand, without matching, requests or datatypes.

       reference wire            one cache line to and fro: {"p50_ns", "p90_ns"} per hop
       reference pingpong A|B S  one-way time of messages of S bytes, A or B as in latency.c

   Up to 48 bytes a message and its stamp are one line. Up to 1 MB it goes through shared memory in cells of 4 kB: the
   receiver copies one while the sender writes the next. Cells go round in 4 MB, and neighbours do not follow one
   another. They are written through the caches in one run and past them in another; the better run counts. Above, both
   copy pieces of 64 kB between each other's memory. */
#include "measure.h"
#include <emmintrin.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 64, INLINE = 48, CELL = 4096, CELLS = 1024, STRIDE = 5, SHARED_MOST = 1 << 20, CLAIM = 65536 };

typedef struct {
    _Alignas(LINE) _Atomic uint32_t stamp;
    uint32_t fill[3];
    unsigned char data[INLINE];
} Line;

typedef struct {
    Line line[256];
    _Alignas(LINE) _Atomic uint32_t filled[CELLS][LINE / 4];
    _Alignas(4096) unsigned char cell[CELLS][CELL];
    _Alignas(LINE) _Atomic uint32_t offered;
    _Alignas(LINE) _Atomic uint32_t accepted;
    void *from, *to;
    _Alignas(LINE) _Atomic uint32_t claimed;
    _Alignas(LINE) _Atomic uint32_t done;
} Way;

static Way *ways;  /* [0]: from process 0 to 1, [1]: back */
static pid_t other;
static uint32_t sent, received;
static uint32_t cells_sent, cells_received;
static int past; /* cells are written past the caches */

/* Copies to a cell, which starts at a page. */
static void copy_out(unsigned char *to, const unsigned char *from, size_t bytes) {
    size_t whole = past ? bytes / sizeof(__m128i) * sizeof(__m128i) : 0;
    for (size_t at = 0; at < whole; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + at), _mm_loadu_si128((const __m128i *)(from + at)));
    if (whole) _mm_sfence();
    memcpy(to + whole, from + whole, bytes - whole);
}

static void pause_until(_Atomic uint32_t *word, uint32_t value) {
    while (atomic_load_explicit(word, memory_order_acquire) != value) __builtin_ia32_pause();
}

static void copy_pieces(Way *way, size_t bytes, int sending) {
    uint32_t pieces = (uint32_t)((bytes + CLAIM - 1) / CLAIM), mine;
    while ((mine = atomic_fetch_add(&way->claimed, 1)) < pieces) {
        size_t at = (size_t)mine * CLAIM, n = bytes - at < CLAIM ? bytes - at : CLAIM;
        struct iovec from = {(char *)way->from + at, n}, to = {(char *)way->to + at, n};
        ssize_t moved = sending ? process_vm_writev(other, &from, 1, &to, 1, 0)
                                : process_vm_readv(other, &to, 1, &from, 1, 0);
        if (moved != (ssize_t)n) {
            fprintf(stderr, "copying between processes: %s\n", strerror(errno));
            _exit(1);
        }
        atomic_fetch_add_explicit(&way->done, 1, memory_order_release);
    }
    pause_until(&way->done, pieces);
}

static void send_message(Way *way, void *buffer, size_t bytes) {
    uint32_t stamp = ++sent;
    if (bytes <= INLINE) {
        Line *line = &way->line[stamp % 256];
        memcpy(line->data, buffer, bytes);
        atomic_store_explicit(&line->stamp, stamp, memory_order_release);
    } else if (bytes <= SHARED_MOST) {
        for (size_t at = 0; at < bytes; at += CELL) {
            uint32_t turn = cells_sent++, cell = turn * STRIDE % CELLS;
            copy_out(way->cell[cell], (unsigned char *)buffer + at, bytes - at < CELL ? bytes - at : CELL);
            atomic_store_explicit(&way->filled[cell][0], turn + 1, memory_order_release);
        }
    } else {
        way->from = buffer;
        atomic_store_explicit(&way->offered, stamp, memory_order_release);
        pause_until(&way->accepted, stamp);
        copy_pieces(way, bytes, 1);
    }
}

static void receive_message(Way *way, void *buffer, size_t bytes) {
    uint32_t stamp = ++received;
    if (bytes <= INLINE) {
        Line *line = &way->line[stamp % 256];
        pause_until(&line->stamp, stamp);
        memcpy(buffer, line->data, bytes);
    } else if (bytes <= SHARED_MOST) {
        for (size_t at = 0; at < bytes; at += CELL) {
            uint32_t turn = cells_received++, cell = turn * STRIDE % CELLS;
            pause_until(&way->filled[cell][0], turn + 1);
            memcpy((unsigned char *)buffer + at, way->cell[cell], bytes - at < CELL ? bytes - at : CELL);
        }
    } else {
        pause_until(&way->offered, stamp);
        way->to = buffer;
        atomic_store(&way->claimed, 0);
        atomic_store(&way->done, 0);
        atomic_store_explicit(&way->accepted, stamp, memory_order_release);
        copy_pieces(way, bytes, 0);
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
                send_message(&ways[0], out, bytes);
                receive_message(&ways[1], in, bytes);
            } else {
                receive_message(&ways[0], in, bytes);
                send_message(&ways[1], out, bytes);
            }
        }
        once = (now_us() - start) / (2.0 * rounds);
        if (b >= 0) block[b] = once;
        else if (b == -2) {
            /* both have to agree on the number: process 0 says it */
            int32_t agreed = repeats(2 * once, 2000);
            if (me == 0) send_message(&ways[0], &agreed, sizeof agreed);
            else receive_message(&ways[0], &agreed, sizeof agreed);
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
    double through[BLOCKS], around[BLOCKS];
    past = 0;
    double p50 = measure(me, variant, bytes, through), *best = through;
    if (bytes > INLINE && bytes <= SHARED_MOST) {
        past = 1;
        double other = measure(me, variant, bytes, around);
        if (other < p50) p50 = other, best = around;
    }
    if (me == 0)
        printf("{\"size\": %zu, \"variant\": \"%c\", \"us\": %.4f, \"min_us\": %.4f, \"blocks\": %d}\n",
               bytes, variant, p50, best[0], BLOCKS);
}

static void wire(int me) {
    enum { HOPS = 2000, MANY = 101 };
    double block[MANY];
    for (int b = -3; b < MANY; b++) {
        double start = now_us();
        for (uint32_t i = 0; i < HOPS; i++) {
            uint32_t stamp = ++sent;
            if (me == 0) {
                atomic_store_explicit(&ways[0].line[0].stamp, stamp, memory_order_release);
                pause_until(&ways[1].line[0].stamp, stamp);
            } else {
                pause_until(&ways[0].line[0].stamp, stamp);
                atomic_store_explicit(&ways[1].line[0].stamp, stamp, memory_order_release);
            }
        }
        if (b >= 0) block[b] = (now_us() - start) * 1e3 / (2.0 * HOPS);
    }
    if (me == 0) {
        double p50 = quantile(block, MANY, 0.5), p90 = quantile(block, MANY, 0.9);
        printf("{\"p50_ns\": %.2f, \"p90_ns\": %.2f, \"blocks\": %d}\n", p50, p90, MANY);
    }
}

int main(int argc, char **argv) {
    if (argc < 2 || (strcmp(argv[1], "wire") && (strcmp(argv[1], "pingpong") || argc < 4))) {
        fprintf(stderr, "use: reference wire | reference pingpong A|B BYTES...\n");
        return 2;
    }
    ways = mmap(NULL, 2 * sizeof *ways, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t parent = getpid(), child = fork();
    int me = child == 0;
    if (me) prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would wait for ever for a process that was killed */
    other = me ? parent : child;
    pin(me);
    if (!strcmp(argv[1], "wire")) wire(me);
    else for (int i = 3; i < argc; i++) pingpong(me, argv[2][0], strtoul(argv[i], NULL, 10));
    if (me) _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
