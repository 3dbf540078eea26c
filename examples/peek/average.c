/* A moving average: firing i averages instances i .. i + peek of its input, one float each. */
#include "cellweave.h"

static cw_result fire(void *state, const cw_batch *b) {
    (void)state;
    for (uint64_t j = 0; j < b->firings; ++j) {
        float sum = 0;
        for (uint64_t k = 0; k <= b->in[0].peek; ++k) sum += *(const float *)cw_peek(b, 0, j, k);
        *(float *)cw_out_at(b, 0, j) = sum / (float)(b->in[0].peek + 1);
    }
    return cw_done(b->firings);
}

static const cw_port in = {.name = "in", .dtype = "f32", .bytes = sizeof(float)};
static const cw_port out = {.name = "out", .dtype = "f32", .bytes = sizeof(float)};
CW_EXPORT const cw_kernel average = {.abi_version = CW_ABI_VERSION,
                                     .struct_bytes = sizeof(cw_kernel),
                                     .name = "average",
                                     .flags = CW_STATELESS,
                                     .inputs = 1,
                                     .input_ports = &in,
                                     .outputs = 1,
                                     .output_ports = &out,
                                     .fire = fire};
