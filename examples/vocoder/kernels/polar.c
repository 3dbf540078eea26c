/* polar: rectangular to polar, for one group of bins.
 *
 * in: f64 [channels][2][B]: real parts, imaginary parts
 * magnitude, phase: f64 [channels][B]; the phase of a bin of magnitude 0 is 0
 */
#include "vocoder.h"

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    if (read_setting(task, &s) != CW_OK) return CW_ERROR;
    const uint64_t bytes = (uint64_t)s.channels * points(&s) * sizeof(double);
    if (expect_bytes(task, &task->inputs[0], 2 * bytes) != CW_OK ||
        expect_bytes(task, &task->outputs[0], bytes) != CW_OK || expect_bytes(task, &task->outputs[1], bytes) != CW_OK)
        return CW_ERROR;
    setting *copy = malloc(sizeof *copy);
    if (!copy) return refuse(task, "no memory for the state");
    *copy = s;
    *state = copy;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    const setting *s = state;
    const unsigned b = points(s);
    for (uint64_t j = 0; j < batch->firings; ++j) {
        const double *in = cw_in_at(batch, 0, j);
        double *magnitude = cw_out_at(batch, 0, j), *phase = cw_out_at(batch, 1, j);
        for (unsigned channel = 0; channel < s->channels; ++channel, in += 2 * b, magnitude += b, phase += b) {
            for (unsigned e = 0; e < b; ++e) magnitude[e] = sqrt(in[e] * in[e] + in[b + e] * in[b + e]);
            for (unsigned e = 0; e < b; ++e) phase[e] = magnitude[e] > 0 ? atan2(in[b + e], in[e]) : 0;
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f64"};
static const cw_port out[2] = {{.name = "magnitude", .dtype = "f64"}, {.name = "phase", .dtype = "f64"}};
KERNEL(polar, CW_STATELESS, 1, &in, 2, out);
