/* dft: one group of bins of the windowed frame that starts with this instance.
 *
 * in   (peek): f32 [analysis_hop][channels]; firing i sees hops i .. i + peek, of which the first `frame` samples count
 * out: f64 [channels][2][B]: real parts, imaginary parts
 */
#include "vocoder.h"

#define BLOCK 8 /* of the fold's B sums, held in registers */

typedef struct dft_state {
    setting set;
    group_tables tables;
    double window[MAX_FRAME];
} dft_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    unsigned group;
    if (read_setting(task, &s) != CW_OK || read_group(task, &s, &group) != CW_OK) return CW_ERROR;
    const cw_connection *in = &task->inputs[0];
    if (expect_bytes(task, in, (uint64_t)s.analysis_hop * s.channels * sizeof(float)) != CW_OK ||
        expect_bytes(task, &task->outputs[0], (uint64_t)s.channels * 2 * points(&s) * sizeof(double)) != CW_OK)
        return CW_ERROR;
    if ((in->peek + 1) * s.analysis_hop < s.frame)
        return refuse(task, "port %s peeks at %llu further instances, a frame of %u samples needs %u", in->name,
                      (unsigned long long)in->peek, s.frame, (s.frame - 1) / s.analysis_hop);
    dft_state *d = malloc(sizeof *d);
    if (!d) return refuse(task, "no memory for the state");
    d->set = s;
    make_tables(&d->tables, &s, group);
    for (unsigned n = 0; n < s.frame; ++n) d->window[n] = hann(n, s.frame);
    *state = d;
    return CW_OK;
}

/* One channel's frame, windowed. */
static void gather(const dft_state *d, const cw_batch *batch, uint64_t firing, unsigned channel,
                   double *restrict frame) {
    const unsigned hop = d->set.analysis_hop, channels = d->set.channels;
    for (unsigned start = 0, k = 0; start < d->set.frame; start += hop, ++k) {
        const float *restrict x = (const float *)cw_peek(batch, 0, firing, k) + channel;
        const unsigned count = hop < d->set.frame - start ? hop : d->set.frame - start;
        if (channels == 1)
            for (unsigned n = 0; n < count; ++n) frame[start + n] = d->window[start + n] * x[n];
        else
            for (unsigned n = 0; n < count; ++n) frame[start + n] = d->window[start + n] * x[(size_t)n * channels];
    }
}

static cw_result fire(void *state, const cw_batch *batch) {
    const dft_state *d = state;
    const unsigned m = classes(&d->set), b = points(&d->set);
    double frame[MAX_FRAME], re[MAX_POINTS], im[MAX_POINTS];
    for (uint64_t j = 0; j < batch->firings; ++j) {
        double *out = cw_out_at(batch, 0, j);
        for (unsigned channel = 0; channel < d->set.channels; ++channel, out += 2 * b) {
            gather(d, batch, j, channel, frame);
            for (unsigned q = 0; q < b; q += BLOCK) {
                double sum_re[BLOCK] = {0}, sum_im[BLOCK] = {0};
                for (unsigned a = 0; a < m; ++a)
                    for (unsigned i = 0; i < BLOCK; ++i) {
                        sum_re[i] += frame[a * b + q + i] * d->tables.fold_re[a];
                        sum_im[i] -= frame[a * b + q + i] * d->tables.fold_im[a];
                    }
                for (unsigned i = 0; i < BLOCK; ++i) {
                    const double c = d->tables.turn_re[q + i], s = d->tables.turn_im[q + i];
                    re[q + i] = sum_re[i] * c + sum_im[i] * s;
                    im[q + i] = sum_im[i] * c - sum_re[i] * s;
                }
            }
            transform(re, im, b, &d->tables, -1);
            for (unsigned e = 0; e < b; ++e) {
                out[e] = re[e];
                out[b + e] = e < b / 2 ? im[e] : -im[e];
            }
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f32"}, out = {.name = "out", .dtype = "f64"};
KERNEL(dft, CW_STATELESS, 1, &in, 1, &out);
