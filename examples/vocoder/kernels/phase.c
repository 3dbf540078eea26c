/* phase: the phases of one group of output bins, for another tempo and pitch.
 *
 * Output bin j sounds what the input has in bin k = floor((j + 1/2) / pitch), `pitch` times as high. In the synthesis
 * hop it advances by pitch * synthesis_hop / analysis_hop times what bin k advanced in the analysis hop; it starts with
 * the phase of bin k in the first frame.
 *
 * in: f64 [channels][2][N/2]: phases, advances to the next frame; all bins
 * out: f64 [channels][B]
 */
#include "vocoder.h"

typedef struct phase_state {
    setting set;
    double scale;
    uint16_t source[MAX_POINTS];
    double phase[]; /* [channels][B]: of the frame to come */
} phase_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    unsigned group;
    if (read_setting(task, &s) != CW_OK || read_group(task, &s, &group) != CW_OK) return CW_ERROR;
    const unsigned b = points(&s);
    if (expect_bytes(task, &task->inputs[0], (uint64_t)s.channels * 2 * bins(&s) * sizeof(double)) != CW_OK ||
        expect_bytes(task, &task->outputs[0], (uint64_t)s.channels * b * sizeof(double)) != CW_OK)
        return CW_ERROR;
    phase_state *p = malloc(sizeof *p + s.channels * b * sizeof(double));
    if (!p) return refuse(task, "no memory for the state");
    p->set = s;
    p->scale = s.pitch * s.synthesis_hop / s.analysis_hop;
    for (unsigned e = 0; e < b; ++e)
        p->source[e] = (uint16_t)fmin(floor((bin_of(&s, group, e) + 0.5) / s.pitch), bins(&s) - 1);
    *state = p;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    phase_state *p = state;
    const unsigned b = points(&p->set), row = bins(&p->set);
    for (uint64_t j = 0; j < batch->firings; ++j) {
        const double *in = cw_in_at(batch, 0, j);
        double *restrict out = cw_out_at(batch, 0, j), *restrict phase = p->phase;
        for (unsigned channel = 0; channel < p->set.channels; ++channel, in += 2 * row, out += b, phase += b) {
            if (batch->first + j == 0)
                for (unsigned e = 0; e < b; ++e) phase[e] = in[p->source[e]];
            memcpy(out, phase, b * sizeof *out);
            for (unsigned e = 0; e < b; ++e) phase[e] = wrapped(phase[e] + p->scale * in[row + p->source[e]]);
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f64"}, out = {.name = "out", .dtype = "f64"};
KERNEL(phase, 0, 1, &in, 1, &out);
