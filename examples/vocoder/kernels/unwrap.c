/* unwrap: by how much the phase of each bin really advances until the next frame.
 *
 * A partial in the middle of bin k turns by 2 pi (k + 1/2) hop / N from one frame to the next. The measured difference
 * is known up to whole turns: the one next to that expectation is the advance (phase unwrapping).
 *
 * in   (peek 1): f64 [channels][B]: the phases of this frame and of the next
 * out: f64 [channels][2][B]: phases of this frame, advances from it to the next (meaningless for the last frame)
 */
#include "vocoder.h"

typedef struct unwrap_state {
    setting set;
    double expected[MAX_POINTS];
} unwrap_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    unsigned group;
    if (read_setting(task, &s) != CW_OK || read_group(task, &s, &group) != CW_OK) return CW_ERROR;
    const uint64_t bytes = (uint64_t)s.channels * points(&s) * sizeof(double);
    if (expect_bytes(task, &task->inputs[0], bytes) != CW_OK ||
        expect_bytes(task, &task->outputs[0], 2 * bytes) != CW_OK)
        return CW_ERROR;
    if (task->inputs[0].peek < 1) return refuse(task, "port %s needs peek = 1: the next frame", task->inputs[0].name);
    unwrap_state *u = malloc(sizeof *u);
    if (!u) return refuse(task, "no memory for the state");
    u->set = s;
    for (unsigned e = 0; e < points(&s); ++e)
        u->expected[e] = 2 * PI * (bin_of(&s, group, e) + 0.5) * s.analysis_hop / s.frame;
    *state = u;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    const unwrap_state *u = state;
    const unsigned b = points(&u->set);
    for (uint64_t j = 0; j < batch->firings; ++j) {
        const double *restrict now = cw_in_at(batch, 0, j), *restrict next = cw_peek(batch, 0, j, 1);
        double *restrict out = cw_out_at(batch, 0, j);
        for (unsigned channel = 0; channel < u->set.channels; ++channel, now += b, next += b, out += 2 * b) {
            memcpy(out, now, b * sizeof *out);
            for (unsigned e = 0; e < b; ++e)
                out[b + e] = u->expected[e] + wrapped(next[e] - now[e] - u->expected[e]);
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f64"}, out = {.name = "out", .dtype = "f64"};
KERNEL(unwrap, CW_STATELESS, 1, &in, 1, &out);
