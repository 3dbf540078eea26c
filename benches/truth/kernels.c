/* Kernels of the applications of benches/truth. Each takes any number of inputs, which it adds up, and gives its result
 * to every output. Parameters: size (of what it works on) and rounds (how much), as each kernel below says. */
#include <cellweave.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
    uint64_t size, rounds, seed;
    uint64_t bytes; /* of an instance */
    float *numbers; /* coefficients or a table */
    float *block;   /* what the inputs come to */
    float *result;
    double sum;
} work;

static double number(const cw_task *t, const char *name, double otherwise) {
    for (uint64_t k = 0; k < t->params_count; ++k)
        if (strcmp(t->params[k].name, name) == 0 && t->params[k].count == 1) return t->params[k].numbers[0];
    return otherwise;
}

static uint32_t init(const cw_task *t, void **state) {
    work *w = calloc(1, sizeof *w);
    w->size = (uint64_t)number(t, "size", 64);
    w->rounds = (uint64_t)number(t, "rounds", 1);
    w->seed = 1;
    w->bytes = t->inputs_count ? t->inputs[0].bytes : t->outputs[0].bytes;
    uint64_t floats = w->bytes / sizeof(float) + 1, numbers = w->size > floats ? w->size : floats;
    w->numbers = aligned_alloc(64, (numbers * sizeof(float) + 63) / 64 * 64);
    w->block = aligned_alloc(64, (floats * sizeof(float) + 63) / 64 * 64);
    w->result = aligned_alloc(64, (floats * sizeof(float) + 63) / 64 * 64);
    for (uint64_t i = 0; i < numbers; ++i) w->numbers[i] = (float)((i * 2654435761u >> 8 & 1023) / 1024.0);
    memset(w->block, 0, floats * sizeof(float));
    memset(w->result, 0, floats * sizeof(float));
    *state = w;
    return CW_OK;
}

static uint32_t finish(void *state, char *error, uint64_t error_bytes) {
    (void)error, (void)error_bytes;
    work *w = state;
    free(w->numbers);
    free(w->block);
    free(w->result);
    free(w);
    return CW_OK;
}

/* What a firing computes from `x` into `y`, n floats each. */
typedef void compute(work *w, const float *restrict x, float *restrict y, uint64_t n);

static cw_result fire(work *w, const cw_batch *b, compute *f) {
    uint64_t n = w->bytes / sizeof(float);
    for (uint64_t j = 0; j < b->firings; ++j) {
        const float *x = w->block;
        if (b->inputs == 1) x = cw_in_at(b, 0, j);
        if (b->inputs > 1) {
            memcpy(w->block, cw_in_at(b, 0, j), w->bytes);
            for (uint32_t i = 1; i < b->inputs; ++i) {
                const float *more = cw_in_at(b, i, j);
                for (uint64_t k = 0; k < n; ++k) w->block[k] += more[k];
            }
        }
        float *y = b->outputs ? cw_out_at(b, 0, j) : w->result;
        f(w, x, y, n);
        for (uint32_t o = 1; o < b->outputs; ++o) memcpy(cw_out_at(b, o, j), y, w->bytes);
    }
    return cw_done(b->firings);
}

/* Numbers from a generator. */
static void source(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    (void)x;
    for (uint64_t i = 0; i < n; ++i) {
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        y[i] = (float)(w->seed >> 40) * 0x1p-24f;
    }
}

/* Takes all numbers in. */
static void sink(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    float sum = 0;
    for (uint64_t i = 0; i < n; ++i) sum += x[i];
    w->sum += sum;
    y[0] = sum;
}

static void copy(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    (void)w;
    memcpy(y, x, n * sizeof(float));
}

/* A filter with `size` taps over the block. */
static void fir(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) {
        float sum = 0;
        uint64_t taps = i + 1 < w->size ? i + 1 : w->size;
        for (uint64_t k = 0; k < taps; ++k) sum += w->numbers[k] * x[i - k];
        y[i] = sum / (float)w->size;
    }
}

/* A stage of an FFT: butterflies at distance `size`. */
static void butterfly(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    uint64_t d = w->size;
    for (uint64_t i = 0; i < n; i += 2 * d)
        for (uint64_t k = i; k < i + d && k + d < n; ++k) {
            float turned = x[k + d] * w->numbers[k];
            y[k] = 0.5f * (x[k] + turned);
            y[k + d] = 0.5f * (x[k] - turned);
        }
}

/* The block as a matrix of size x size, times a constant one. */
static void matrix(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    uint64_t s = w->size;
    memset(y, 0, n * sizeof(float));
    for (uint64_t i = 0; i < s; ++i)
        for (uint64_t k = 0; k < s; ++k) {
            float factor = x[i * s + k];
            for (uint64_t j = 0; j < s; ++j) y[i * s + j] += factor * w->numbers[k * s + j];
        }
}

/* The block as a picture of `size` columns: each point becomes the mean of its neighbours. */
static void blur(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    uint64_t s = w->size;
    memcpy(y, x, n * sizeof(float));
    for (uint64_t i = s; i + s < n; ++i) y[i] = 0.2f * (x[i] + x[i - 1] + x[i + 1] + x[i - s] + x[i + s]);
}

/* `rounds` dependent look-ups in a table of `size` numbers. */
static void look_up(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    float sum = 0;
    for (uint64_t r = 0; r < w->rounds; ++r) {
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        sum += w->numbers[(w->seed >> 24) % w->size];
    }
    memcpy(y, x, n * sizeof(float));
    y[0] += sum;
}

/* `rounds` dependent multiplications. */
static void spin(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    uint64_t z = w->seed;
    for (uint64_t r = 0; r < w->rounds; ++r) z = z * 6364136223846793005u + 1442695040888963407u;
    w->seed = z;
    memcpy(y, x, n * sizeof(float));
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void sorted(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    (void)w;
    memcpy(y, x, n * sizeof(float));
    qsort(y, n, sizeof(float), ascending);
}

/* A check sum, byte by byte through a table. */
static void check(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    const uint8_t *bytes = (const uint8_t *)x;
    uint32_t sum = 1;
    for (uint64_t i = 0; i < n * sizeof(float); ++i)
        sum = sum >> 8 ^ (uint32_t)(w->numbers[(sum ^ bytes[i]) & 15] * 1e6f) ^ sum << 3;
    memcpy(y, x, n * sizeof(float));
    w->sum += sum;
}

/* Goes where the data says: how long a firing takes depends on them. */
static void branches(work *w, const float *restrict x, float *restrict y, uint64_t n) {
    uint64_t rounds = (uint64_t)(fabsf(x[0]) * (float)w->rounds) % (2 * w->rounds + 1);
    float z = x[0];
    for (uint64_t r = 0; r < rounds; ++r) z = z > 0.5f ? z * 0.5f : z * 1.5f + 0.1f;
    memcpy(y, x, n * sizeof(float));
    y[0] = z;
}

static const cw_port in = {.name = "in", .flags = CW_REPEATED}, out = {.name = "out", .flags = CW_REPEATED};

#define KERNEL(f, ins, outs)                                                                                           \
    static cw_result fire_##f(void *state, const cw_batch *b) { return fire(state, b, f); }                            \
    CW_EXPORT const cw_kernel truth_##f = {.abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel),           \
        .name = #f, .inputs = ins, .input_ports = &in, .outputs = outs, .output_ports = &out, .init = init,            \
        .fire = fire_##f, .finish = finish};

KERNEL(source, 0, 1)
KERNEL(sink, 1, 0)
KERNEL(copy, 1, 1)
KERNEL(fir, 1, 1)
KERNEL(butterfly, 1, 1)
KERNEL(matrix, 1, 1)
KERNEL(blur, 1, 1)
KERNEL(look_up, 1, 1)
KERNEL(spin, 1, 1)
KERNEL(sorted, 1, 1)
KERNEL(check, 1, 1)
KERNEL(branches, 1, 1)
