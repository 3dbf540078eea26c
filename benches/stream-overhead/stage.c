#define _GNU_SOURCE
#include "stage.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One line of an item. Unaligned on purpose: a runtime may place items anywhere. */
typedef uint64_t line __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint64_t lanes __attribute__((vector_size(64)));

#define SEED 0x9e3779b97f4a7c15u
static const lanes payload = {3, 5, SEED, 7, 11, 13, 17, 19};
static const lanes one_hop = {0, 1};
static const lanes number_lane = {~0ull};

struct stage_sink {
    const stage_case *c;
    lanes sum;    /* of every line read, modulo 2^64 per lane */
    lanes wrong;  /* a set bit: some item came out of its turn */
    uint64_t spun; /* sum of the sink's own spins */
    uint64_t seen;
    uint64_t end_ns;
};

/* Own line: the sink's thread must not pull it away from the source. */
static struct {
    uint64_t start_ns;
} clock_start __attribute__((aligned(128)));

uint64_t stage_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void stage_pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
        fprintf(stderr, "cannot pin to cpu %d\n", cpu);
        exit(1);
    }
}

void *stage_alloc(size_t bytes) {
    size_t whole = (bytes + 4095) / 4096 * 4096;
    void *p = aligned_alloc(4096, whole);
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", whole);
        exit(1);
    }
    memset(p, 0, whole);
    return p;
}

/* Eight independent chains keep the multiplier busy every cycle, so that two firings in a row cannot overlap in the
 * core's window and a batch gains nothing over single calls. The empty asm keeps the compiler from vectorising. */
uint64_t stage_spin(uint64_t x, uint64_t turns) {
    uint64_t a = x, b = x + 1, c = x + 2, d = x + 3, e = x + 4, f = x + 5, g = x + 6, h = x + 7;
    for (uint64_t i = 0; i < turns; ++i) {
        a *= SEED, b *= SEED, c *= SEED, d *= SEED, e *= SEED, f *= SEED, g *= SEED, h *= SEED;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ x;
}

/* The first line after one more stage. */
static inline lanes hop(const stage_case *c, lanes v) {
    v += one_hop;
    if (c->spin) v[2] = stage_spin(v[2], c->spin);
    return v;
}

void stage_source(const stage_case *c, uint64_t first, void *out, size_t n) {
    if (first == 0) clock_start.start_ns = stage_now_ns();
    size_t lines = c->item_bytes / 64;
    line *to = out;
    lanes next = {first, 0, SEED, 7, 11, 13, 17, 19};
    const lanes step = {1};
    for (size_t j = 0; j < n; ++j, to += lines, next += step) {
        *to = hop(c, next);
        for (size_t k = 1; k < lines; ++k) to[k] = payload;
    }
}

void stage_copy(const stage_case *c, const void *in, void *out, size_t n) {
    size_t lines = c->item_bytes / 64;
    const line *from = in;
    line *to = out;
    if (lines == 1 && c->spin == 0) {
        for (size_t j = 0; j < n; ++j) to[j] = from[j] + one_hop;
        return;
    }
    for (size_t j = 0; j < n; ++j, from += lines, to += lines) {
        *to = hop(c, *from);
        if (lines > 1) memcpy(to + 1, from + 1, (lines - 1) * 64);
    }
}

stage_sink *stage_sink_new(const stage_case *c) {
    stage_sink *s = stage_alloc(sizeof *s);
    s->c = c;
    return s;
}

static inline void seen(stage_sink *s, size_t n) {
    s->seen += n;
    if (s->seen == s->c->items) s->end_ns = stage_now_ns();
}

void stage_read(stage_sink *s, const void *in, size_t n) {
    size_t lines = s->c->item_bytes / 64;
    uint64_t spin = s->c->spin;
    const line *from = in;
    lanes sum = s->sum, wrong = s->wrong, expected = {s->seen};
    const lanes step = {1};
    for (size_t j = 0; j < n; ++j, from += lines, expected += step) {
        lanes v = *from;
        wrong |= (v ^ expected) & number_lane;
        sum += v;
        if (spin) s->spun += stage_spin(v[2], spin);
        lanes other = {0};
        for (size_t k = 1; k + 1 < lines; k += 2) sum += from[k], other += from[k + 1];
        if (lines > 1) sum += from[lines - 1];
        sum += other;
    }
    s->sum = sum;
    s->wrong = wrong;
    seen(s, n);
}

void stage_join(stage_sink *s, const void *const in[STAGE_BRANCHES], size_t n) {
    const line *a = in[0], *b = in[1], *c = in[2], *d = in[3];
    lanes sum = s->sum, wrong = s->wrong, expected = {s->seen};
    const lanes step = {1};
    for (size_t j = 0; j < n; ++j, expected += step) {
        wrong |= ((a[j] ^ expected) | (b[j] ^ expected) | (c[j] ^ expected) | (d[j] ^ expected)) & number_lane;
        sum += (a[j] + b[j]) + (c[j] + d[j]);
    }
    s->sum = sum;
    s->wrong = wrong;
    seen(s, n);
}

uint64_t stage_seen(const stage_sink *s) { return s->seen; }

int stage_is_diamond(const stage_case *c) { return strcmp(c->name, "diamond") == 0; }

int stage_report(stage_sink *s) {
    const stage_case *c = s->c;
    uint64_t n = c->items, lines = c->item_bytes / 64;
    uint64_t copies = stage_is_diamond(c) ? STAGE_BRANCHES : 1; /* of one item that the sink reads */
    uint64_t hops = stage_is_diamond(c) ? 2 : c->stages - 1;
    uint64_t spun = SEED;
    for (uint64_t k = 0; k < hops; ++k) spun = c->spin ? stage_spin(spun, c->spin) : spun;
    lanes first = payload;
    first[0] = 0, first[1] = hops, first[2] = spun;
    lanes want = (first + payload * (lines - 1)) * n;
    want[0] += n * (n - 1) / 2;
    want *= copies;
    const char *fault = NULL;
    if (s->seen != n) fault = "items lost or doubled";
    else if (s->wrong[0]) fault = "order lost";
    else if (c->spin && s->spun != n * stage_spin(spun, c->spin)) fault = "the sink's spin is wrong";
    for (int k = 0; k < 8 && !fault; ++k)
        if (s->sum[k] != want[k]) fault = "checksum differs";
    double elapsed = (double)(s->end_ns - clock_start.start_ns);
    printf("{\"contender\": \"%s\", \"case\": \"%s\", \"stages\": %llu, \"items\": %llu, \"elapsed_ns\": %.0f, "
           "\"ns_per_firing\": %.4f, \"correct\": %s%s%s%s}\n",
           c->contender, c->name, (unsigned long long)c->stages, (unsigned long long)n, elapsed,
           elapsed / ((double)n * (double)c->stages), fault ? "false" : "true", fault ? ", \"fault\": \"" : "",
           fault ? fault : "", fault ? "\"" : "");
    fflush(stdout);
    return fault ? 1 : 0;
}

static uint64_t number(const char *text, const char *what) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0') {
        fprintf(stderr, "%s: '%s' is not a number\n", what, text);
        exit(2);
    }
    return v;
}

stage_case stage_parse(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: %s CONTENDER CASE STAGES ITEMS SPIN CPU CPU\n", argv[0]);
        exit(2);
    }
    stage_case c = {.contender = argv[1], .name = argv[2], .item_bytes = 64};
    c.stages = number(argv[3], "STAGES");
    c.items = number(argv[4], "ITEMS");
    uint64_t spin = number(argv[5], "SPIN");
    c.cpu[0] = (int)number(argv[6], "CPU");
    c.cpu[1] = (int)number(argv[7], "CPU");
    int diamond = strcmp(c.name, "diamond") == 0;
    if (strcmp(c.name, "copy16k") == 0) c.item_bytes = 16384;
    else if (strcmp(c.name, "us1") == 0) c.spin = spin;
    else if (strcmp(c.name, "null") != 0 && !diamond) {
        fprintf(stderr, "CASE: '%s' is none of null, us1, copy16k, diamond\n", c.name);
        exit(2);
    }
    if (diamond ? c.stages != STAGE_DIAMOND : c.stages < 2) {
        fprintf(stderr, "STAGES: a chain has 2 or more, a diamond 6\n");
        exit(2);
    }
    if (c.items == 0) {
        fprintf(stderr, "ITEMS: at least 1\n");
        exit(2);
    }
    return c;
}
