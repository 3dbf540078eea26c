/* What the machine itself allows, beside the contenders: JSON on one line.
 *   limits CPU CPU        ping-pong and stream of cache lines between the two, and what one turn of the spin takes
 *   limits CPU CPU SPIN   the same, and what SPIN turns take now */
#include "stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 20000, LINES = 1 << 20, RING_LINES = 8192, PUBLISH = 64, CALIBRATION_TURNS = 100000, TRIES = 15 };

static struct {
    _Alignas(128) _Atomic uint64_t there;
    _Alignas(128) _Atomic uint64_t back;
} ball;

static struct {
    _Alignas(128) _Atomic uint64_t written;
    _Alignas(128) _Atomic uint64_t freed;
    _Alignas(128) uint64_t sum;
    uint64_t (*line)[8];
} stream;

static int other_cpu;

/* No pause here: the limit is the line's flight, not the waiting. */
static void *pong(void *unused) {
    (void)unused;
    stage_pin(other_cpu);
    for (uint64_t i = 1; i <= TRIPS; ++i) {
        while (atomic_load_explicit(&ball.there, memory_order_acquire) != i) {}
        atomic_store_explicit(&ball.back, i, memory_order_release);
    }
    return NULL;
}

static double ping_ns(void) {
    pthread_t t;
    atomic_store(&ball.there, 0);
    atomic_store(&ball.back, 0);
    if (pthread_create(&t, NULL, pong, NULL) != 0) exit(1);
    uint64_t start = 0;
    for (uint64_t i = 1; i <= TRIPS; ++i) {
        if (i == 1 + TRIPS / 10) start = stage_now_ns();
        atomic_store_explicit(&ball.there, i, memory_order_release);
        while (atomic_load_explicit(&ball.back, memory_order_acquire) != i) {}
    }
    double ns = (double)(stage_now_ns() - start);
    pthread_join(t, NULL);
    return ns / (TRIPS - TRIPS / 10) / 2;
}

static void *reader(void *unused) {
    (void)unused;
    stage_pin(other_cpu);
    uint64_t sum = 0;
    for (uint64_t n = 0; n < LINES; n += PUBLISH) {
        while (atomic_load_explicit(&stream.written, memory_order_acquire) < n + PUBLISH) {}
        for (uint64_t k = n; k < n + PUBLISH; ++k) sum += stream.line[k % RING_LINES][0];
        atomic_store_explicit(&stream.freed, n + PUBLISH, memory_order_release);
    }
    stream.sum = sum;
    return NULL;
}

static double stream_ns(void) {
    pthread_t t;
    atomic_store(&stream.written, 0);
    atomic_store(&stream.freed, 0);
    if (pthread_create(&t, NULL, reader, NULL) != 0) exit(1);
    uint64_t start = stage_now_ns();
    for (uint64_t n = 0; n < LINES; n += PUBLISH) {
        while (n + PUBLISH - atomic_load_explicit(&stream.freed, memory_order_acquire) > RING_LINES) {}
        for (uint64_t k = n; k < n + PUBLISH; ++k)
            for (int w = 0; w < 8; ++w) stream.line[k % RING_LINES][w] = k;
        atomic_store_explicit(&stream.written, n + PUBLISH, memory_order_release);
    }
    pthread_join(t, NULL);
    double ns = (double)(stage_now_ns() - start);
    if (stream.sum != (uint64_t)LINES * (LINES - 1) / 2) {
        fprintf(stderr, "the stream of lines arrived wrong\n");
        exit(1);
    }
    return ns / LINES;
}

static double spin_ns(uint64_t turns) {
    static volatile uint64_t keep;
    uint64_t start = stage_now_ns();
    keep = stage_spin(keep, turns);
    return (double)(stage_now_ns() - start);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct quantiles {
    double min, p50;
} quantiles;

static quantiles of(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return (quantiles){v[0], v[n / 2]};
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: limits CPU CPU [SPIN]\n");
        return 2;
    }
    other_cpu = atoi(argv[2]);
    stage_pin(atoi(argv[1]));
    stream.line = stage_alloc(RING_LINES * 64);
    double ping[TRIES], lines[TRIES], turn[TRIES], spin[TRIES * 100];
    for (int i = 0; i < TRIES; ++i) {
        ping[i] = ping_ns();
        lines[i] = stream_ns();
        turn[i] = spin_ns(CALIBRATION_TURNS) / CALIBRATION_TURNS;
    }
    quantiles p = of(ping, TRIES), l = of(lines, TRIES), t = of(turn, TRIES);
    printf("{\"ping_pong_one_way_ns\": {\"min\": %.1f, \"p50\": %.1f}, "
           "\"stream_line_ns\": {\"min\": %.2f, \"p50\": %.2f}, "
           "\"spin_turn_ns\": {\"min\": %.4f, \"p50\": %.4f}",
           p.min, p.p50, l.min, l.p50, t.min, t.p50);
    if (argc == 4) {
        uint64_t turns = strtoull(argv[3], NULL, 10);
        /* Blocks of 100 firings: a clock read costs too much beside one. */
        for (int i = 0; i < TRIES * 100; ++i) {
            static volatile uint64_t keep;
            uint64_t start = stage_now_ns();
            for (int k = 0; k < 100; ++k) keep = stage_spin(keep, turns);
            spin[i] = (double)(stage_now_ns() - start) / 100;
        }
        quantiles s = of(spin, TRIES * 100);
        printf(", \"spin_ns\": {\"min\": %.1f, \"p50\": %.1f}", s.min, s.p50);
    }
    printf(", \"n\": %d}\n", TRIES);
    return 0;
}
