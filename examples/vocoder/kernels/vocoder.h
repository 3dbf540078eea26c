/* vocoder.h: what the vocoder's kernels share: the numbering of its bins, the transform of one group, and how a task
 * reads its parameters.
 *
 * The spectrum of a frame of N samples is taken at odd frequencies, bin k at (k + 1/2) / N of the sampling rate, for k
 * from 0 to N/2 - 1, with time counted from the middle of the frame:
 *
 *     X[k] = sum over n = 0 .. N-1 of w[n] x[n] exp(-2 pi i (k + 1/2) (n - N/2) / N)
 *
 * Odd, so that there is no bin at 0 and none at half the rate: all N/2 bins are complex and all groups alike. From the
 * middle, so that the bins of one partial have equal phases and can be moved together.
 *
 * A group of index r computes the bins k of the residue class r modulo M = 2 * groups: of each, N/M = B. Those above
 * N/2 are the conjugates of bins of the class M-1-r, so that groups 0 .. groups-1 cover all. Entry e of a group is
 * therefore
 *     k = M e + r                  for e < B/2,  and
 *     k = M (B-1-e) + M-1-r        for e >= B/2, conjugated.
 * With n - N/2 = B a + b, a = 0 .. M-1 and b = 0 .. B-1, the sum is a fold of the frame over a, B long, and a transform
 * of B points: a fast Fourier transform whose two halves are tasks.
 */
#ifndef VOCODER_H
#define VOCODER_H

#include "cellweave.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define MAX_FRAME 4096
#define MAX_POINTS 128 /* of a group's transform */

/* What every task of the graph is told, by params of the same names. */
typedef struct setting {
    unsigned frame;        /* N, samples */
    unsigned groups;       /* bins are split over so many tasks */
    unsigned channels;     /* of the audio; each is processed on its own */
    unsigned analysis_hop; /* samples of input per instance and channel */
    unsigned synthesis_hop; /* samples of output per instance and channel */
    double pitch;          /* factor on every frequency */
} setting;

/* Says why `init` refuses. */
static inline void explain(const cw_task *task, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(task->error, task->error_bytes, format, rest);
    va_end(rest);
}
#define refuse(...) (explain(__VA_ARGS__), (uint32_t)CW_ERROR)

/* A number among the task's params; `otherwise` where it is not given, NaN where it is none. */
static inline double parameter(const cw_task *task, const char *name, double otherwise) {
    for (uint64_t i = 0; i < task->params_count; ++i)
        if (strcmp(task->params[i].name, name) == 0)
            return task->params[i].count == 1 ? task->params[i].numbers[0] : NAN;
    return otherwise;
}

/* Reads and checks the setting. */
static inline uint32_t read_setting(const cw_task *task, setting *s) {
    const double frame = parameter(task, "frame", 1024), groups = parameter(task, "groups", 16);
    const double channels = parameter(task, "channels", 1), pitch = parameter(task, "pitch", 1);
    const double analysis = parameter(task, "analysis_hop", 128), synthesis = parameter(task, "synthesis_hop", 128);
    if (!(frame >= 256 && frame <= MAX_FRAME) || ((unsigned)frame & ((unsigned)frame - 1)) != 0)
        return refuse(task, "frame = %g: a power of two from 256 to %d is needed", frame, MAX_FRAME);
    if (!(groups >= 2 && groups <= frame / 16) || ((unsigned)groups & ((unsigned)groups - 1)) != 0 ||
        frame / (2 * groups) > MAX_POINTS)
        return refuse(task, "groups = %g: a power of two from %g to %g is needed for frames of %g", groups,
                      fmax(2, frame / (2 * MAX_POINTS)), frame / 16, frame);
    if (!(channels >= 1 && channels <= 8)) return refuse(task, "channels = %g: 1 to 8 are allowed", channels);
    if (!(pitch >= 0.25 && pitch <= 4)) return refuse(task, "pitch = %g: 0.25 to 4 is allowed", pitch);
    if (!(analysis >= 1 && analysis <= frame / 2))
        return refuse(task, "analysis_hop = %g: 1 to frame / 2 = %g", analysis, frame / 2);
    if (!(synthesis >= 1 && synthesis <= frame / 2))
        return refuse(task, "synthesis_hop = %g: 1 to frame / 2 = %g", synthesis, frame / 2);
    *s = (setting){(unsigned)frame,    (unsigned)groups,    (unsigned)channels,
                   (unsigned)analysis, (unsigned)synthesis, pitch};
    return CW_OK;
}

/* Refuses an application whose edge does not carry what the kernel moves. */
static inline uint32_t expect_bytes(const cw_task *task, const cw_connection *port, uint64_t bytes) {
    if (port->bytes == bytes) return CW_OK;
    return refuse(task, "port %s carries %llu bytes per instance, this setting needs %llu", port->name,
                  (unsigned long long)port->bytes, (unsigned long long)bytes);
}

/* M, classes of bins; B, entries of a group. */
static inline unsigned classes(const setting *s) { return 2 * s->groups; }
static inline unsigned points(const setting *s) { return s->frame / classes(s); }
static inline unsigned bins(const setting *s) { return s->frame / 2; }

/* The bin that entry e of group r holds. */
static inline unsigned bin_of(const setting *s, unsigned group, unsigned entry) {
    const unsigned m = classes(s), b = points(s);
    return entry < b / 2 ? m * entry + group : m * (b - 1 - entry) + m - 1 - group;
}

/* The group of a task, by its param `group`. */
static inline uint32_t read_group(const cw_task *task, const setting *s, unsigned *group) {
    const double g = parameter(task, "group", -1);
    if (!(g >= 0 && g < s->groups))
        return refuse(task, "group = %g: 0 to groups - 1 = %u is allowed", g, s->groups - 1);
    *group = (unsigned)g;
    return CW_OK;
}

/* The periodic Hann window. */
static inline double hann(double n, double frame) { return 0.5 - 0.5 * cos(2 * PI * n / frame); }

/* An angle's representative in [-pi, pi]. Adding and subtracting 1.5 * 2^52 rounds to the nearest integer, and a
 * compiler can do it for several angles at once. */
static inline double wrapped(double angle) {
    const double turns = angle * (1 / (2 * PI)) + 6755399441055744.0;
    return angle - (turns - 6755399441055744.0) * (2 * PI);
}

/* The tables of one group: E_a = exp(2 pi i (r + 1/2) (a - M/2) / M), F_b = exp(2 pi i (r + 1/2) b / N), and the roots
 * of unity of the B-point transform. */
typedef struct group_tables {
    double fold_re[MAX_FRAME / 8], fold_im[MAX_FRAME / 8];
    double turn_re[MAX_POINTS], turn_im[MAX_POINTS];
    double root_re[MAX_POINTS / 2], root_im[MAX_POINTS / 2];
} group_tables;

static inline void make_tables(group_tables *t, const setting *s, unsigned group) {
    const unsigned m = classes(s), b = points(s);
    for (unsigned a = 0; a < m; ++a) {
        const double angle = 2 * PI * (group + 0.5) * ((double)a - m / 2) / m;
        t->fold_re[a] = cos(angle);
        t->fold_im[a] = sin(angle);
    }
    for (unsigned i = 0; i < b; ++i) {
        const double angle = 2 * PI * (group + 0.5) * i / s->frame;
        t->turn_re[i] = cos(angle);
        t->turn_im[i] = sin(angle);
    }
    for (unsigned i = 0; i < b / 2; ++i) {
        t->root_re[i] = cos(2 * PI * i / b);
        t->root_im[i] = sin(2 * PI * i / b);
    }
}

/* In place, unnormalised: z[q] <- sum over m of z[m] exp(sign 2 pi i m q / count). Stockham's order: every pass reads
 * one array and writes the other, without a bit reversal. `count` is a power of two, at most MAX_POINTS. */
static inline void transform(double *re, double *im, unsigned count, const group_tables *t, double sign) {
    double other_re[MAX_POINTS], other_im[MAX_POINTS];
    double *xr = re, *xi = im, *yr = other_re, *yi = other_im;
    for (unsigned span = count, stride = 1; span > 1; span /= 2, stride *= 2) {
        const unsigned half = span / 2;
        for (unsigned p = 0; p < half; ++p) {
            const double wr = t->root_re[p * stride], wi = sign * t->root_im[p * stride];
            const double *ar = xr + stride * p, *ai = xi + stride * p;
            const double *br = xr + stride * (p + half), *bi = xi + stride * (p + half);
            double *restrict cr = yr + stride * 2 * p, *restrict ci = yi + stride * 2 * p;
            double *restrict dr = cr + stride, *restrict di = ci + stride;
            for (unsigned q = 0; q < stride; ++q) {
                const double fr = ar[q] - br[q], fi = ai[q] - bi[q];
                cr[q] = ar[q] + br[q];
                ci[q] = ai[q] + bi[q];
                dr[q] = fr * wr - fi * wi;
                di[q] = fr * wi + fi * wr;
            }
        }
        double *swap = xr;
        xr = yr, yr = swap;
        swap = xi, xi = yi, yi = swap;
    }
    if (xr != re) {
        memcpy(re, xr, count * sizeof *re);
        memcpy(im, xi, count * sizeof *im);
    }
}

/* Most kernels' `finish`: the state is one allocation. */
static inline uint32_t free_state(void *state, char *error, uint64_t error_bytes) {
    (void)error, (void)error_bytes;
    free(state);
    return CW_OK;
}

/* A kernel's descriptor, in one line of its file. */
#define KERNEL(NAME, FLAGS, IN, IN_PORTS, OUT, OUT_PORTS)                                                              \
    CW_EXPORT const cw_kernel NAME = {.abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = #NAME, \
        .flags = FLAGS, .inputs = IN, .outputs = OUT, .input_ports = IN_PORTS, .output_ports = OUT_PORTS,             \
        .init = init, .fire = fire, .finish = free_state}

#endif
