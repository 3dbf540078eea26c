/* Kernels for the tests of shared objects: good ones and every way of being wrong. */
#include "cellweave.h"
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gain { float factor; uint64_t fail_at; };

static uint32_t gain_init(const cw_task *task, void **state) {
    struct gain *g = calloc(1, sizeof *g);
    g->factor = 1.0f;
    g->fail_at = UINT64_MAX;
    for (uint64_t i = 0; i < task->params_count; ++i) {
        const cw_param *p = &task->params[i];
        if (!strcmp(p->name, "gain") && p->count == 1) {
            g->factor = (float)p->numbers[0];
        } else if (!strcmp(p->name, "fail_at") && p->count == 1) {
            g->fail_at = (uint64_t)p->numbers[0];
        } else {
            snprintf(task->error, task->error_bytes, "unknown parameter '%s' of '%s'", p->name, task->name);
            free(g);
            return CW_ERROR;
        }
    }
    *state = g;
    return CW_OK;
}

static cw_result gain_fire(void *state, const cw_batch *b) {
    struct gain *g = state;
    uint64_t n = b->in[0].bytes / sizeof(float);
    for (uint64_t j = 0; j < b->firings; ++j) {
        if (b->first + j == g->fail_at) {
            snprintf(b->error, b->error_bytes, "as asked");
            cw_result r = {j, CW_ERROR, 0};
            return r;
        }
        const float *in = cw_in_at(b, 0, j);
        float *out = cw_out_at(b, 0, j);
        for (uint64_t k = 0; k < n; ++k)
            out[k] = g->factor * in[k];
    }
    return cw_done(b->firings);
}

static uint32_t gain_finish(void *state, char *error, uint64_t error_bytes) {
    (void)error, (void)error_bytes;
    free(state);
    return CW_OK;
}

static const cw_port f32_in = {.name = "in", .dtype = "f32"}, f32_out = {.name = "out", .dtype = "f32"};

#define KERNEL(SYMBOL, FIRE)                                                                                        \
    CW_EXPORT const cw_kernel SYMBOL = {.abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel),           \
                                        .name = #SYMBOL, .inputs = 1, .input_ports = &f32_in, .outputs = 1,         \
                                        .output_ports = &f32_out, .fire = FIRE}

CW_EXPORT const cw_kernel gain = {
    .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "gain", .inputs = 1,
    .input_ports = &f32_in, .outputs = 1, .output_ports = &f32_out, .init = gain_init, .fire = gain_fire,
    .finish = gain_finish};

/* Sum over the window. */
static cw_result sum_fire(void *state, const cw_batch *b) {
    (void)state;
    for (uint64_t j = 0; j < b->firings; ++j) {
        float sum = 0;
        for (uint64_t k = 0; k <= b->in[0].peek; ++k)
            sum += *(const float *)cw_peek(b, 0, j, k);
        *(float *)cw_out_at(b, 0, j) = sum;
    }
    return cw_done(b->firings);
}
KERNEL(sum, sum_fire);

static cw_result too_many_fire(void *state, const cw_batch *b) { (void)state; return cw_done(b->firings + 1); }
KERNEL(too_many, too_many_fire);
static cw_result too_few_fire(void *state, const cw_batch *b) { (void)state; return cw_done(b->firings - 1); }
KERNEL(too_few, too_few_fire);
static cw_result early_fire(void *state, const cw_batch *b) { (void)state; return cw_end(b->firings); }
KERNEL(early, early_fire);
static cw_result odd_fire(void *state, const cw_batch *b) {
    (void)state;
    cw_result r = {b->firings, 77, 0};
    return r;
}
KERNEL(odd, odd_fire);
static cw_result never_fire(void *state, const cw_batch *b) {
    (void)state, (void)b;
    for (;;) pause();
    return cw_done(0);
}
KERNEL(never, never_fire);
static cw_result stall_fire(void *state, const cw_batch *b) {
    (void)state, (void)b;
    cw_result r = {0, CW_AGAIN, 0};
    return r;
}
KERNEL(stall, stall_fire);
/* Does its work one firing at a time. */
static cw_result piece_fire(void *state, const cw_batch *b) {
    (void)state;
    memcpy(cw_out_at(b, 0, 0), cw_in_at(b, 0, 0), b->in[0].bytes);
    cw_result r = {1, CW_AGAIN, 0};
    return r;
}
KERNEL(piece, piece_fire);

static cw_result gain_fire0(void *state, const cw_batch *b) { (void)state; return cw_done(b->firings); }
static const cw_port sized_in = {.name = "in", .bytes = 128}, shaped_in = {.name = "in", .dtype = "i16", .items = 2};
static const cw_port many_in[2] = {{.name = "a"}, {.name = "b", .flags = CW_REPEATED}};
CW_EXPORT const cw_kernel other_abi = {.abi_version = 2, .struct_bytes = sizeof(cw_kernel), .name = "other_abi",
                                       .fire = gain_fire0};
CW_EXPORT const cw_kernel other_size = {.abi_version = 1, .struct_bytes = 64, .name = "other_size",
                                        .fire = gain_fire0};
CW_EXPORT const cw_kernel no_fire = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "no_fire"};
CW_EXPORT const cw_kernel sized = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "sized", .inputs = 1,
                                   .input_ports = &sized_in, .fire = gain_fire0};
CW_EXPORT const cw_kernel two_items = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "two_items",
                                       .inputs = 1, .input_ports = &shaped_in, .fire = gain_fire0};
CW_EXPORT const cw_kernel many = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "many", .inputs = 2,
                                  .input_ports = many_in, .fire = gain_fire0};
CW_EXPORT const cw_kernel liar = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "liar", .inputs = 3,
                                  .fire = gain_fire0};
CW_EXPORT const unsigned char not_a_kernel[256] = "this is a text, and no kernel";

/* Variable length: repeats the first byte as often as it says. */
static cw_result grow_fire(void *state, const cw_batch *b) {
    (void)state;
    for (uint64_t j = 0; j < b->firings; ++j) {
        unsigned char *out = cw_out_at(b, 0, j);
        uint64_t n = (b->first + j) % (b->out[0].bytes + 1);
        memset(out, (int)n, n);
        cw_set_length(out, n);
    }
    return cw_done(b->firings);
}
static const cw_port var_out = {.name = "out", .flags = CW_VARIABLE}, var_in = {.name = "in", .flags = CW_VARIABLE};
static const cw_port any_out = {.name = "out"};
/* Wrong lengths from firing 20 on: one too many, none at all. */
static cw_result too_long_fire(void *state, const cw_batch *b) {
    cw_result r = grow_fire(state, b);
    for (uint64_t j = 0; j < b->firings; ++j)
        if (b->first + j >= 20) cw_set_length(cw_out_at(b, 0, j), b->out[0].bytes + 1);
    return r;
}
static cw_result no_length_fire(void *state, const cw_batch *b) {
    (void)state;
    for (uint64_t j = 0; j < b->firings; ++j)
        if (b->first + j < 20) cw_set_length(cw_out_at(b, 0, j), 0);
    return cw_done(b->firings);
}
#define VARIABLE(SYMBOL, FIRE)                                                                                      \
    CW_EXPORT const cw_kernel SYMBOL = {.abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel),           \
                                        .name = #SYMBOL, .outputs = 1, .output_ports = &var_out, .fire = FIRE}
VARIABLE(grow, grow_fire);
VARIABLE(too_long, too_long_fire);
VARIABLE(no_length, no_length_fire);
static cw_result measure_fire(void *state, const cw_batch *b) {
    (void)state;
    for (uint64_t j = 0; j < b->firings; ++j) {
        const unsigned char *in = cw_in_at(b, 0, j);
        uint64_t n = cw_length(in);
        for (uint64_t k = 0; k < n; ++k)
            if (in[k] != (unsigned char)n) n = 9999;
        memcpy(cw_out_at(b, 0, j), &n, sizeof n);
    }
    return cw_done(b->firings);
}
CW_EXPORT const cw_kernel measure = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "measure",
                                     .inputs = 1, .input_ports = &var_in, .outputs = 1, .output_ports = &any_out,
                                     .fire = measure_fire};
/* In place: adds one to every byte of what it finds in its output when that is its input. */
static cw_result bump_fire(void *state, const cw_batch *b) {
    (void)state;
    for (uint64_t j = 0; j < b->firings; ++j) {
        const unsigned char *in = cw_in_at(b, 0, j);
        unsigned char *out = cw_out_at(b, 0, j);
        for (uint64_t k = 0; k < b->in[0].bytes; ++k) out[k] = (unsigned char)(in[k] + 1);
    }
    return cw_done(b->firings);
}
static const cw_port place_in = {.name = "in", .flags = CW_IN_PLACE};
CW_EXPORT const cw_kernel bump = {.abi_version = 1, .struct_bytes = sizeof(cw_kernel), .name = "bump", .inputs = 1,
                                  .input_ports = &place_in, .outputs = 1, .output_ports = &any_out, .fire = bump_fire};

/* Sizes and offsets of every struct, in the order of the test. */
#define S(T) sizeof(T)
#define O(T, F) offsetof(T, F)
CW_EXPORT const uint64_t abi_layout[] = {
    S(cw_result), O(cw_result, fired), O(cw_result, status),
    S(cw_port), O(cw_port, name), O(cw_port, dtype), O(cw_port, shape), O(cw_port, dimensions), O(cw_port, items),
        O(cw_port, bytes), O(cw_port, flags),
    S(cw_in), O(cw_in, base), O(cw_in, stride), O(cw_in, bytes), O(cw_in, peek), O(cw_in, real),
    S(cw_out), O(cw_out, base), O(cw_out, stride), O(cw_out, bytes),
    S(cw_batch), O(cw_batch, firings), O(cw_batch, first), O(cw_batch, inputs), O(cw_batch, outputs), O(cw_batch,
        in), O(cw_batch, out), O(cw_batch, error), O(cw_batch, error_bytes),
    S(cw_param), O(cw_param, name), O(cw_param, text), O(cw_param, numbers), O(cw_param, count),
    S(cw_connection), O(cw_connection, name), O(cw_connection, bytes), O(cw_connection, peek),
    S(cw_task), O(cw_task, name), O(cw_task, params), O(cw_task, params_count), O(cw_task, inputs), O(cw_task,
        outputs), O(cw_task, inputs_count), O(cw_task, outputs_count), O(cw_task, error), O(cw_task, error_bytes),
    S(cw_kernel), O(cw_kernel, abi_version), O(cw_kernel, struct_bytes), O(cw_kernel, name), O(cw_kernel, flags),
        O(cw_kernel, inputs), O(cw_kernel, outputs), O(cw_kernel, input_ports), O(cw_kernel, output_ports),
        O(cw_kernel, init), O(cw_kernel, fire), O(cw_kernel, finish),
    CW_ABI_VERSION, CW_OK, CW_END, CW_AGAIN, CW_ERROR, CW_STATELESS, CW_IN_PLACE, CW_VARIABLE, CW_OPTIONAL,
        CW_REPEATED, 0xC0FFEE};
