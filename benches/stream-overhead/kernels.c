/* The stages as cellweave kernels. Each task has the parameters contender, case, stages, items and spin. */
#include "stage.h"

#include <cellweave.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stage {
    stage_case c;
    stage_sink *sink; /* of sink and join */
    char words[7][32];
} stage;

static const char *param(const cw_task *t, const char *name, char *number) {
    for (uint64_t k = 0; k < t->params_count; ++k) {
        const cw_param *p = &t->params[k];
        if (strcmp(p->name, name) != 0) continue;
        if (p->text) return p->text;
        if (p->count == 1) {
            snprintf(number, 32, "%.0f", p->numbers[0]);
            return number;
        }
    }
    return NULL;
}

static uint32_t init(const cw_task *t, void **state) {
    static const char *const names[] = {"contender", "case", "stages", "items", "spin"};
    stage *s = stage_alloc(sizeof *s);
    char *argv[8] = {"kernels", NULL, NULL, NULL, NULL, NULL, "0", "0"};
    for (int k = 0; k < 5; ++k) {
        char number[32];
        const char *text = param(t, names[k], number);
        if (text == NULL || strlen(text) >= sizeof s->words[0]) {
            snprintf(t->error, t->error_bytes, "parameter %s is missing or too long", names[k]);
            free(s);
            return CW_ERROR;
        }
        strcpy(s->words[k], text);
        argv[1 + k] = s->words[k];
    }
    s->c = stage_parse(8, argv);
    *state = s;
    return CW_OK;
}

static uint32_t init_sink(const cw_task *t, void **state) {
    uint32_t status = init(t, state);
    if (status == CW_OK) ((stage *)*state)->sink = stage_sink_new(&((stage *)*state)->c);
    return status;
}

static cw_result source(void *state, const cw_batch *b) {
    const stage_case *c = &((stage *)state)->c;
    if (b->out[0].stride == c->item_bytes) stage_source(c, b->first, b->out[0].base, b->firings);
    else
        for (uint64_t j = 0; j < b->firings; ++j) stage_source(c, b->first + j, cw_out_at(b, 0, j), 1);
    return cw_done(b->firings);
}

static cw_result copy(void *state, const cw_batch *b) {
    const stage_case *c = &((stage *)state)->c;
    if (b->in[0].stride == c->item_bytes && b->out[0].stride == c->item_bytes)
        stage_copy(c, b->in[0].base, b->out[0].base, b->firings);
    else
        for (uint64_t j = 0; j < b->firings; ++j) stage_copy(c, cw_in_at(b, 0, j), cw_out_at(b, 0, j), 1);
    return cw_done(b->firings);
}

static cw_result sink(void *state, const cw_batch *b) {
    const stage *s = state;
    if (b->in[0].stride == s->c.item_bytes) stage_read(s->sink, b->in[0].base, b->firings);
    else
        for (uint64_t j = 0; j < b->firings; ++j) stage_read(s->sink, cw_in_at(b, 0, j), 1);
    return cw_done(b->firings);
}

static cw_result join(void *state, const cw_batch *b) {
    const stage *s = state;
    uint64_t whole = b->firings;
    for (uint32_t k = 0; k < STAGE_BRANCHES; ++k)
        if (b->in[k].stride != s->c.item_bytes) whole = 1;
    for (uint64_t j = 0; j < b->firings; j += whole) {
        const void *in[STAGE_BRANCHES];
        for (uint32_t k = 0; k < STAGE_BRANCHES; ++k) in[k] = cw_in_at(b, k, j);
        stage_join(s->sink, in, whole);
    }
    return cw_done(b->firings);
}

/* A run that saw all items reports; a profile or a run that was cut short does not. */
static uint32_t finish(void *state, char *error, uint64_t error_bytes) {
    stage *s = state;
    uint32_t status = CW_OK;
    if (s->sink && stage_seen(s->sink) == s->c.items && stage_report(s->sink) != 0) {
        snprintf(error, error_bytes, "the items that arrived are not those that were sent");
        status = CW_ERROR;
    }
    free(s->sink);
    free(s);
    return status;
}

static const cw_port in = {.name = "in"}, out = {.name = "out"};
static const cw_port ins = {.name = "in", .flags = CW_REPEATED};

CW_EXPORT const cw_kernel stage_source_kernel = {
    .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "source",
    .outputs = 1, .output_ports = &out, .init = init, .fire = source, .finish = finish};
CW_EXPORT const cw_kernel stage_copy_kernel = {
    .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "copy", .flags = CW_STATELESS,
    .inputs = 1, .input_ports = &in, .outputs = 1, .output_ports = &out, .init = init, .fire = copy, .finish = finish};
CW_EXPORT const cw_kernel stage_sink_kernel = {
    .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "sink",
    .inputs = 1, .input_ports = &in, .init = init_sink, .fire = sink, .finish = finish};
CW_EXPORT const cw_kernel stage_join_kernel = {
    .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "join",
    .inputs = 1, .input_ports = &ins, .init = init_sink, .fire = join, .finish = finish};
