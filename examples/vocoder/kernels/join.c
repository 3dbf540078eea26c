/* join: the groups' bins in the order of their frequencies, since a change of pitch moves bins across groups.
 *
 * in0 .. in(groups-1): f64 [channels][V][B], V values per bin: 1 (magnitudes) or 2 (phases and advances), by the edge's
 * bytes
 * out: f64 [channels][V][N/2]
 */
#include "vocoder.h"

typedef struct join_state {
    setting set;
    unsigned values;
    uint16_t bin[MAX_FRAME / 2]; /* [group][entry] */
} join_state;

static uint32_t init(const cw_task *task, void **state) {
    setting s;
    if (read_setting(task, &s) != CW_OK) return CW_ERROR;
    if (task->inputs_count != s.groups)
        return refuse(task, "%u inputs are connected, groups = %u", task->inputs_count, s.groups);
    const uint64_t one = (uint64_t)s.channels * points(&s) * sizeof(double);
    const unsigned values = task->inputs[0].bytes == one ? 1 : 2;
    for (unsigned g = 0; g < s.groups; ++g)
        if (expect_bytes(task, &task->inputs[g], values * one) != CW_OK) return CW_ERROR;
    if (expect_bytes(task, &task->outputs[0], values * one * s.groups) != CW_OK) return CW_ERROR;
    join_state *join = malloc(sizeof *join);
    if (!join) return refuse(task, "no memory for the state");
    join->set = s;
    join->values = values;
    for (unsigned g = 0; g < s.groups; ++g)
        for (unsigned e = 0; e < points(&s); ++e) join->bin[g * points(&s) + e] = (uint16_t)bin_of(&s, g, e);
    *state = join;
    return CW_OK;
}

static cw_result fire(void *state, const cw_batch *batch) {
    const join_state *join = state;
    const unsigned b = points(&join->set), rows = join->set.channels * join->values;
    for (uint64_t j = 0; j < batch->firings; ++j) {
        double *out = cw_out_at(batch, 0, j);
        for (unsigned g = 0; g < join->set.groups; ++g) {
            const double *in = cw_in_at(batch, g, j);
            const uint16_t *bin = join->bin + g * b;
            for (unsigned row = 0; row < rows; ++row)
                for (unsigned e = 0; e < b; ++e) out[row * bins(&join->set) + bin[e]] = in[row * b + e];
        }
    }
    return cw_done(batch->firings);
}

static const cw_port in = {.name = "in", .dtype = "f64", .flags = CW_REPEATED}, out = {.name = "out", .dtype = "f64"};
KERNEL(join, CW_STATELESS, 1, &in, 1, &out);
