/* rect: polar to rectangular, for one group of output bins, whose magnitudes are read off the input's spectrum.
 *
 * Output bin j lies where the input has (j + 1/2) / pitch - 1/2: its magnitude is interpolated linearly between the
 * bins on both sides. Below bin 0 stands bin 0 (the spectrum of a real signal is symmetric), from N/2 on stand zeros.
 *
 * magnitude: f64 [channels][N/2], all bins of the input
 * phase: f64 [channels][B]
 * out: f64 [channels][2][B]: real parts, imaginary parts
 */
#include "vocoder.h"

typedef struct rect_state {
    setting set;
    uint16_t below[MAX_POINTS], above[MAX_POINTS];
    double of_below[MAX_POINTS], of_above[MAX_POINTS]; /* weights */
} rect_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    unsigned group;
    if (read_setting(task, &s) != CW_OK || read_group(task, &s, &group) != CW_OK) return CW_ERROR;
    const uint64_t bytes = (uint64_t)s.channels * points(&s) * sizeof(double);
    if (expect_bytes(task, &task->inputs[0], bytes * s.groups) != CW_OK ||
        expect_bytes(task, &task->inputs[1], bytes) != CW_OK ||
        expect_bytes(task, &task->outputs[0], 2 * bytes) != CW_OK)
        return CW_ERROR;
    rect_state *r = malloc(sizeof *r);
    if (!r) return refuse(task, "no memory for the state");
    r->set = s;
    for (unsigned e = 0; e < points(&s); ++e) {
        const double at = fmax((bin_of(&s, group, e) + 0.5) / s.pitch - 0.5, 0), below = floor(at), last = bins(&s) - 1;
        r->below[e] = (uint16_t)fmin(below, last);
        r->above[e] = (uint16_t)fmin(below + 1, last);
        r->of_below[e] = below <= last ? 1 - (at - below) : 0;
        r->of_above[e] = below + 1 <= last ? at - below : 0;
    }
    *state = r;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    const rect_state *r = state;
    const unsigned b = points(&r->set);
    for (uint64_t j = 0; j < batch->firings; ++j) {
        const double *spectrum = cw_in_at(batch, 0, j), *phase = cw_in_at(batch, 1, j);
        double *restrict out = cw_out_at(batch, 0, j);
        for (unsigned channel = 0; channel < r->set.channels;
             ++channel, spectrum += bins(&r->set), phase += b, out += 2 * b)
            for (unsigned e = 0; e < b; ++e) {
                const double magnitude =
                    r->of_below[e] * spectrum[r->below[e]] + r->of_above[e] * spectrum[r->above[e]];
                out[e] = magnitude * cos(phase[e]);
                out[b + e] = magnitude * sin(phase[e]);
            }
    }
    return cw_done(batch->firings);
}

static const cw_port in[2] = {{.name = "magnitude", .dtype = "f64"}, {.name = "phase", .dtype = "f64"}};
static const cw_port out = {.name = "out", .dtype = "f64"};
KERNEL(rect, CW_STATELESS, 2, in, 1, &out);
