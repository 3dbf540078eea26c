/* idft: what one group of bins contributes to the output's frame; `dft` backwards.
 *
 *     y[n] = 2 / N * Re(sum over the group's bins k of Y[k] exp(2 pi i (k + 1/2) (n - N/2) / N))
 *
 * in: f64 [channels][2][B]: real parts, imaginary parts
 * out: f32 [channels][N]
 */
#include "vocoder.h"

typedef struct idft_state {
    setting set;
    group_tables tables;
} idft_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    unsigned group;
    if (read_setting(task, &s) != CW_OK || read_group(task, &s, &group) != CW_OK) return CW_ERROR;
    if (expect_bytes(task, &task->inputs[0], (uint64_t)s.channels * 2 * points(&s) * sizeof(double)) != CW_OK ||
        expect_bytes(task, &task->outputs[0], (uint64_t)s.channels * s.frame * sizeof(float)) != CW_OK)
        return CW_ERROR;
    idft_state *d = malloc(sizeof *d);
    if (!d) return refuse(task, "no memory for the state");
    d->set = s;
    make_tables(&d->tables, &s, group);
    *state = d;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    const idft_state *d = state;
    const unsigned m = classes(&d->set), b = points(&d->set);
    const double scale = 2.0 / d->set.frame;
    double re[MAX_POINTS], im[MAX_POINTS];
    float turned_re[MAX_POINTS], turned_im[MAX_POINTS];
    for (uint64_t j = 0; j < batch->firings; ++j) {
        const double *in = cw_in_at(batch, 0, j);
        float *restrict out = cw_out_at(batch, 0, j);
        for (unsigned channel = 0; channel < d->set.channels; ++channel, in += 2 * b) {
            for (unsigned e = 0; e < b; ++e) {
                re[e] = scale * in[e];
                im[e] = e < b / 2 ? scale * in[b + e] : -scale * in[b + e];
            }
            transform(re, im, b, &d->tables, 1);
            for (unsigned q = 0; q < b; ++q) {
                const double c = d->tables.turn_re[q], s = d->tables.turn_im[q];
                turned_re[q] = (float)(re[q] * c - im[q] * s);
                turned_im[q] = (float)(re[q] * s + im[q] * c);
            }
            for (unsigned a = 0; a < m; ++a, out += b) {
                const float c = (float)d->tables.fold_re[a], s = (float)d->tables.fold_im[a];
                for (unsigned q = 0; q < b; ++q) out[q] = turned_re[q] * c - turned_im[q] * s;
            }
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f64"}, out = {.name = "out", .dtype = "f32"};
KERNEL(idft, CW_STATELESS, 1, &in, 1, &out);
