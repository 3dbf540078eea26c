/* The limits: what two processes reach by hand, without matching, requests or datatypes.

       reference A|B BYTES...    one-way time of messages, A or B as in latency.c

   Up to 48 bytes a message and its stamp are one line. A larger one goes through shared memory in cells of 16 kB: the
   receiver copies one while the sender writes the next. The answer goes back in the cells that the message came in.
   Where the cpu can, what a small message has written moves to the shared cache before the receiver hears of it. */
#include "look.h"
#include <cpuid.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 64, INLINE = 48, CELL = 16384, MOST = 64 << 20 };

typedef struct {
    _Alignas(LINE) _Atomic uint32_t stamp;
    uint32_t fill[3];
    unsigned char data[INLINE];
} Line;

/* Messages in one direction: lines, and how many cells were filled. */
typedef struct {
    Line line[256];
    _Alignas(LINE) _Atomic uint64_t filled;
} Way;

typedef struct {
    Way way[2]; /* [0]: from process 0 to 1, [1]: back */
    _Alignas(4096) unsigned char cells[MOST];
} Shared;

static Shared *shared;
static uint32_t sent, received;
static uint64_t filled[2];
static int demotes;

static void pause_until(_Atomic uint32_t *word, uint32_t value) {
    while (atomic_load_explicit(word, memory_order_acquire) != value) __builtin_ia32_pause();
}

/* Whether the cpu has CLDEMOTE, which moves a line to the cache that all cores share. */
static int can_demote(void) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c >> 25 & 1;
}

/* All of a message of 1 kB, 512 bytes of one of 4 kB, nothing of larger ones: as is fastest. */
static void demote(const unsigned char *cell, size_t bytes) {
    size_t most = bytes <= 1024 ? bytes : bytes <= 4096 ? 512 : 0;
    for (size_t at = 0; at < most; at += LINE) __asm__ volatile("cldemote (%0)" : : "r"(cell + at) : "memory");
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
        if (demotes) demote(shared->cells + at, bytes);
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

static void pingpong(int me, char variant, size_t bytes) {
    if (bytes > MOST) {
        fprintf(stderr, "%zu bytes: at most %d are possible\n", bytes, MOST);
        _exit(2);
    }
    unsigned char *out = aligned_alloc(4096, bytes + 4096), *in = out;
    if (variant == 'A') in = aligned_alloc(4096, bytes + 4096);
    memset(out, me + 1, bytes + 4096);
    memset(in, me + 1, bytes + 4096);
    int rounds = 20;
    Blocks blocks;
    blocks_begin(&blocks);
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
        double once = (now_us() - start) / (2.0 * rounds);
        if (b >= 0) blocks_add(&blocks, once);
        /* The first ones may be slow, and a block of few says more of its start than of the rest. Both have to agree on
           the number: process 0 says it. */
        int32_t more = repeats(2 * once, 2000), agreed = b < 0 || more > rounds ? more : rounds;
        if (me == 0) send_message(1, &agreed, sizeof agreed);
        else receive_message(0, &agreed, sizeof agreed);
        rounds = agreed;
    }
    if (bytes && in[bytes - 1] != (variant == 'A' ? 2 - me : 1)) {
        fprintf(stderr, "what arrived is not what was sent\n");
        _exit(1);
    }
    free(out);
    if (in != out) free(in);
    if (me) return;
    printf("{\"size\": %zu, \"variant\": \"%c\", ", bytes, variant);
    blocks_print(&blocks);
}

int main(int argc, char **argv) {
    if (argc < 3 || (strcmp(argv[1], "A") && strcmp(argv[1], "B"))) {
        fprintf(stderr, "use: reference A|B BYTES...\n");
        return 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    demotes = can_demote();
    pid_t child = fork();
    int me = child == 0;
    if (me) prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would wait for ever for a process that was killed */
    pin(me);
    look_open(me, 2);
    for (int i = 2; i < argc; i++) pingpong(me, argv[1][0], strtoul(argv[i], NULL, 10));
    if (me) _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
