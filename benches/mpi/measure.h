/* What the measured programs share: a clock, medians over blocks, pinning. All of it MPI-free but for its users. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 41 };

static inline double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile of n values, which are sorted in place. */
static inline double quantile(double *values, int n, double part) {
    qsort(values, n, sizeof *values, by_value);
    int at = (int)(part * (n - 1) + 0.5);
    return values[at];
}

/* The rank-th of the cpus that BENCH_CPUS names ("0,1"), over and over again. Same for every library: none of them
 * pins. */
static inline void pin(int rank) {
    const char *list = getenv("BENCH_CPUS");
    int cpus[256], n = 0;
    for (const char *at = list; at && *at && n < 256;) {
        char *end;
        cpus[n++] = (int)strtol(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
        if (end == at) break;
    }
    if (!n) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[rank % n], &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* How often to repeat so that a block takes about `aim_us`, when once took `once_us`. */
static inline int repeats(double once_us, double aim_us) {
    double n = aim_us / (once_us > 0.01 ? once_us : 0.01);
    return n < 2 ? 2 : n > 20000 ? 20000 : (int)n;
}
