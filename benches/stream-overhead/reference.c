/* The reference limit: the same stages, scheduled by hand for exactly this graph and two cores.
 *
 *   reference:one_core        all stages on one core, a batch per call, buffers reused
 *   reference:two_cores       half of the stages per core, a batch per call, a ring between the cores, handed over by
 *                             the batch
 *   reference:two_cores_fire  the same with one call per firing
 *   reference:two_cores_item  the same with a hand-over per item too
 *
 * A number after a slash, as in reference:two_cores/4096, is the ring's size in kB; 512 where none is given.
 *
 * Batches are what fits: 64 items of 64 bytes, or one item of 16 kB (two such buffers fill two thirds of a 48 kB
 * L1). */
#include "stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How large the ring between the cores should be differs from computer to computer: run.py tries sizes. */
enum { BATCH = 64, RING_KB = 512, RING_KB_MAX = 1 << 20, LINE_PAIR = 128 };

static void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* One producer, one consumer. Counts run from 0 without wrapping; each side reads the other's only when it must. */
typedef struct ring {
    _Alignas(LINE_PAIR) _Atomic uint64_t written; /* producer's */
    uint64_t freed_seen;
    _Alignas(LINE_PAIR) _Atomic uint64_t freed; /* consumer's */
    uint64_t written_seen;
    _Alignas(LINE_PAIR) uint64_t slots; /* a power of 2 */
    uint64_t slot_bytes;
    char *base;
} ring;

static char *ring_room(ring *r, uint64_t n) {
    while (n - r->freed_seen >= r->slots) {
        r->freed_seen = atomic_load_explicit(&r->freed, memory_order_acquire);
        if (n - r->freed_seen >= r->slots) pause_cpu();
    }
    return r->base + (n & (r->slots - 1)) * r->slot_bytes;
}

static const char *ring_item(ring *r, uint64_t n) {
    while (n >= r->written_seen) {
        r->written_seen = atomic_load_explicit(&r->written, memory_order_acquire);
        if (n >= r->written_seen) pause_cpu();
    }
    return r->base + (n & (r->slots - 1)) * r->slot_bytes;
}

static void ring_publish(ring *r, uint64_t n) { atomic_store_explicit(&r->written, n + 1, memory_order_release); }
static void ring_free(ring *r, uint64_t n) { atomic_store_explicit(&r->freed, n + 1, memory_order_release); }

typedef struct share {
    const stage_case *c;
    stage_sink *sink;
    ring *between;
    uint64_t from, to; /* stages of this core */
    uint64_t batch;    /* items per hand-over */
    uint64_t call;     /* items per call */
    int cpu;
} share;

/* A batch through this core's stages, `call` items at a time. `in` is NULL on the first core, `out` on the last. */
static void chain_batch(const share *h, char *const local[2], uint64_t first, const char *in, char *out, uint64_t n) {
    const stage_case *c = h->c;
    for (uint64_t j = 0; j < n; j += h->call) {
        uint64_t m = n - j < h->call ? n - j : h->call;
        const char *from = in ? in + j * c->item_bytes : NULL;
        for (uint64_t s = h->from; s < h->to; ++s) {
            if (s + 1 == c->stages) {
                stage_read(h->sink, from, m);
                break;
            }
            char *to = s + 1 == h->to ? out + j * c->item_bytes : local[s & 1];
            if (s == 0) stage_source(c, first + j, to, m);
            else stage_copy(c, from, to, m);
            from = to;
        }
    }
}

/* When the diamond is cut the source stands alone, so that one line per item crosses, the least there is. */
static void diamond_batch(const share *h, char *const branch[STAGE_BRANCHES], char *made, uint64_t first,
                          const char *in, char *out, uint64_t n) {
    const stage_case *c = h->c;
    for (uint64_t j = 0; j < n; j += h->call) {
        uint64_t m = n - j < h->call ? n - j : h->call;
        const char *from = in ? in + j * c->item_bytes : NULL;
        if (h->from == 0) {
            char *to = out ? out + j * c->item_bytes : made;
            stage_source(c, first + j, to, m);
            from = to;
        }
        if (h->to != c->stages) continue;
        const void *joined[STAGE_BRANCHES];
        for (int k = 0; k < STAGE_BRANCHES; ++k) {
            stage_copy(c, from, branch[k], m);
            joined[k] = branch[k];
        }
        stage_join(h->sink, joined, m);
    }
}

static void *run_share(void *arg) {
    const share *h = arg;
    const stage_case *c = h->c;
    stage_pin(h->cpu);
    char *local[1 + STAGE_BRANCHES];
    for (int k = 0; k <= STAGE_BRANCHES; ++k) local[k] = stage_alloc(h->call * c->item_bytes);
    int receives = h->from > 0, sends = h->to < c->stages, diamond = stage_is_diamond(c);
    for (uint64_t i = 0, b = 0; i < c->items; i += h->batch, ++b) {
        uint64_t n = c->items - i < h->batch ? c->items - i : h->batch;
        const char *in = receives ? ring_item(h->between, b) : NULL;
        char *out = sends ? ring_room(h->between, b) : NULL;
        if (diamond) diamond_batch(h, local + 1, local[0], i, in, out, n);
        else chain_batch(h, local, i, in, out, n);
        if (receives) ring_free(h->between, b);
        if (sends) ring_publish(h->between, b);
    }
    return NULL;
}

static int is(const char *mode, size_t letters, const char *name) {
    return strlen(name) == letters && strncmp(mode, name, letters) == 0;
}

int main(int argc, char **argv) {
    stage_case c = stage_parse(argc, argv);
    const char *mode = strchr(c.contender, ':');
    mode = mode ? mode + 1 : c.contender;
    const char *slash = strchr(mode, '/');
    size_t letters = slash ? (size_t)(slash - mode) : strlen(mode);
    uint64_t ring_kb = slash ? strtoull(slash + 1, NULL, 10) : RING_KB;
    int item = is(mode, letters, "two_cores_item"), fire = item || is(mode, letters, "two_cores_fire");
    int two = fire || is(mode, letters, "two_cores");
    if (!two && !is(mode, letters, "one_core")) {
        fprintf(stderr, "CONTENDER: '%s' is none of one_core, two_cores, two_cores_fire, two_cores_item\n", mode);
        return 2;
    }
    if (ring_kb == 0 || ring_kb > RING_KB_MAX || (ring_kb & (ring_kb - 1)) != 0) {
        fprintf(stderr, "CONTENDER: a ring has a power of 2 of kB, %d at most\n", RING_KB_MAX);
        return 2;
    }
    uint64_t batch = item ? 1 : c.item_bytes == 64 ? BATCH : 1;
    ring between = {.slots = ring_kb * 1024 / (batch * c.item_bytes), .slot_bytes = batch * c.item_bytes};
    between.base = stage_alloc(between.slots * between.slot_bytes);
    stage_sink *sink = stage_sink_new(&c);
    share first = {&c, sink, &between, 0, c.stages, batch, fire ? 1 : batch, c.cpu[0]}, second = first;
    if (two) {
        first.to = second.from = stage_is_diamond(&c) ? 1 : c.stages / 2;
        second.cpu = c.cpu[1];
        pthread_t other;
        if (pthread_create(&other, NULL, run_share, &second) != 0) {
            fprintf(stderr, "cannot start a thread\n");
            return 1;
        }
        run_share(&first);
        pthread_join(other, NULL);
    } else {
        run_share(&first);
    }
    return stage_report(sink);
}
