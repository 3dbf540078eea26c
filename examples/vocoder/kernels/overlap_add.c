/* overlap_add: windows the output's frames, adds them synthesis_hop apart, and gives what is complete.
 *
 * Divided by the sum of the windows' product at each place, so that an unchanged spectrum gives the input back. The
 * frame that arrives is windowed already, by w where pitch is 1; moving bins by `pitch` narrows (widens) it to
 * v[n] = pitch w[N/2 + pitch (n - N/2)].
 *
 * in0, in1, ..: f32 [channels][N], added up
 * out: f32 [synthesis_hop][channels]
 */
#include "vocoder.h"

typedef struct overlap_state {
    setting set;
    float window[MAX_FRAME];
    float norm[MAX_FRAME]; /* [synthesis_hop]: what to multiply with */
    float pending[];       /* [channels][N]: sums so far, from the next sample on */
} overlap_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    if (read_setting(task, &s) != CW_OK) return CW_ERROR;
    for (uint32_t i = 0; i < task->inputs_count; ++i)
        if (expect_bytes(task, &task->inputs[i], (uint64_t)s.channels * s.frame * sizeof(float)) != CW_OK)
            return CW_ERROR;
    if (expect_bytes(task, &task->outputs[0], (uint64_t)s.channels * s.synthesis_hop * sizeof(float)) != CW_OK)
        return CW_ERROR;
    double product[MAX_FRAME] = {0}, least = INFINITY, most = 0;
    for (unsigned n = 0; n < s.frame; ++n) {
        const double moved = s.pitch * (n - s.frame / 2.0);
        if (fabs(moved) < s.frame / 2.0)
            product[n % s.synthesis_hop] += hann(n, s.frame) * s.pitch * hann(moved + s.frame / 2.0, s.frame);
    }
    for (unsigned n = 0; n < s.synthesis_hop; ++n) {
        least = fmin(least, product[n]);
        most = fmax(most, product[n]);
    }
    if (!(least > 0.05 * most))
        return refuse(task, "synthesis_hop = %u leaves gaps between frames of %u at pitch %g: use a shorter hop",
                      s.synthesis_hop, s.frame, s.pitch);
    overlap_state *o = calloc(1, sizeof *o + (size_t)s.channels * s.frame * sizeof(float));
    if (!o) return refuse(task, "no memory for the state");
    o->set = s;
    for (unsigned n = 0; n < s.frame; ++n) o->window[n] = (float)hann(n, s.frame);
    for (unsigned n = 0; n < s.synthesis_hop; ++n) o->norm[n] = (float)(1 / product[n]);
    *state = o;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    overlap_state *o = state;
    const unsigned frame = o->set.frame, hop = o->set.synthesis_hop, channels = o->set.channels;
    float whole[MAX_FRAME];
    for (uint64_t j = 0; j < batch->firings; ++j) {
        float *restrict out = cw_out_at(batch, 0, j);
        for (unsigned channel = 0; channel < channels; ++channel) {
            float *restrict pending = o->pending + (size_t)channel * frame;
            memcpy(whole, (const float *)cw_in_at(batch, 0, j) + (size_t)channel * frame, frame * sizeof *whole);
            for (uint32_t i = 1; i < batch->inputs; ++i) {
                const float *restrict in = (const float *)cw_in_at(batch, i, j) + (size_t)channel * frame;
                for (unsigned n = 0; n < frame; ++n) whole[n] += in[n];
            }
            for (unsigned n = 0; n < frame; ++n) pending[n] += o->window[n] * whole[n];
            for (unsigned n = 0; n < hop; ++n) out[(size_t)n * channels + channel] = pending[n] * o->norm[n];
            memmove(pending, pending + hop, (frame - hop) * sizeof *pending);
            memset(pending + frame - hop, 0, hop * sizeof *pending);
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f32", .flags = CW_REPEATED}, out = {.name = "out", .dtype = "f32"};
KERNEL(overlap_add, 0, 1, &in, 1, &out);
