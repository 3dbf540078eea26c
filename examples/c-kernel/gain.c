/* A kernel in C: every instance is one float, and comes out `factor` times as large. */
#include "cellweave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state, here the factor. Sizes and params are checked once, before the stream starts. */
static uint32_t init(const cw_task *task, void **state) {
    if (task->inputs[0].bytes != sizeof(float) || task->outputs[0].bytes != sizeof(float)) {
        snprintf(task->error, task->error_bytes, "edges of %zu bytes are needed: one f32", sizeof(float));
        return CW_ERROR;
    }
    double *factor = malloc(sizeof *factor);
    if (!factor) return CW_ERROR;
    *factor = 2;
    for (uint64_t i = 0; i < task->params_count; ++i) {
        const cw_param *p = &task->params[i];
        if (strcmp(p->name, "factor") != 0 || p->count != 1) {
            snprintf(task->error, task->error_bytes, "param %s: only factor, a number, is known", p->name);
            free(factor);
            return CW_ERROR;
        }
        *factor = p->numbers[0];
    }
    *state = factor;
    return CW_OK;
}

/* One call handles a whole batch of firings: a call per float would cost more than the work. */
static cw_result fire(void *state, const cw_batch *b) {
    const double factor = *(const double *)state;
    for (uint64_t j = 0; j < b->firings; ++j)
        *(float *)cw_out_at(b, 0, j) = (float)(factor * *(const float *)cw_in_at(b, 0, j));
    return cw_done(b->firings);
}

static uint32_t finish(void *state, char *error, uint64_t error_bytes) {
    (void)error, (void)error_bytes;
    free(state);
    return CW_OK;
}

static const cw_port in = {.name = "in", .dtype = "f32"}, out = {.name = "out", .dtype = "f32"};
CW_EXPORT const cw_kernel gain = {.abi_version = CW_ABI_VERSION,
                                  .struct_bytes = sizeof(cw_kernel),
                                  .name = "gain",
                                  .flags = CW_STATELESS,
                                  .inputs = 1,
                                  .input_ports = &in,
                                  .outputs = 1,
                                  .output_ports = &out,
                                  .init = init,
                                  .fire = fire,
                                  .finish = finish};
