/* sum: adds frames of several groups, in the order of its ports.
 *
 * in0, in1, ..: f32 [channels][N]
 * out: the same
 */
#include "vocoder.h"

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    if (read_setting(task, &s) != CW_OK) return CW_ERROR;
    const uint64_t bytes = (uint64_t)s.channels * s.frame * sizeof(float);
    for (uint32_t i = 0; i < task->inputs_count; ++i)
        if (expect_bytes(task, &task->inputs[i], bytes) != CW_OK) return CW_ERROR;
    *state = NULL;
    return expect_bytes(task, &task->outputs[0], bytes);
}

static cw_result fire(void *state, const cw_batch *batch) {
    (void)state;
    const uint64_t count = batch->out[0].bytes / sizeof(float);
    for (uint64_t j = 0; j < batch->firings; ++j) {
        float *restrict out = cw_out_at(batch, 0, j);
        memcpy(out, cw_in_at(batch, 0, j), count * sizeof *out);
        for (uint32_t i = 1; i < batch->inputs; ++i) {
            const float *restrict in = cw_in_at(batch, i, j);
            for (uint64_t n = 0; n < count; ++n) out[n] += in[n];
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f32", .flags = CW_REPEATED}, out = {.name = "out", .dtype = "f32"};
KERNEL(sum, CW_STATELESS, 1, &in, 1, &out);
