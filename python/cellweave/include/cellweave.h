/* cellweave.h: the kernel ABI.
 *
 * A kernel is the code of one task of a streaming application. It lives in a shared object as a `const cw_kernel` with
 * default visibility, and an application names it `kernel = "libNAME.so:SYMBOL"`.
 *
 *     static cw_result gain(void *state, const cw_batch *b) {
 *         (void)state;
 *         for (uint64_t j = 0; j < b->firings; ++j)
 *             *(float *)cw_out_at(b, 0, j) = 2.0f * *(const float *)cw_in_at(b, 0, j);
 *         return cw_done(b->firings);
 *     }
 *     static const cw_port in = {.name = "in", .dtype = "f32"}, out = {.name = "out", .dtype = "f32"};
 *     CW_EXPORT const cw_kernel gain2 = {
 *         .abi_version = CW_ABI_VERSION, .struct_bytes = sizeof(cw_kernel), .name = "gain2",
 *         .inputs = 1, .input_ports = &in, .outputs = 1, .output_ports = &out, .fire = gain};
 *
 * The worker thread of the task's element calls `init` once, then `fire` any number of times, then `finish` once, also
 * when the run failed. It never makes two calls at once for one state.
 *
 * What a kernel may touch, and when. All memory but the state is the runtime's, and valid only during the call.
 *
 *                  init                    fire                              finish
 *   state          makes it                reads and writes                  reads, writes, frees
 *   parameters     reads                   -                                 -
 *   inputs         name, size, peek        reads instances 0 .. firings +    -
 *                                          peek - 1; with CW_IN_PLACE the
 *                                          output may be the same memory
 *   outputs        name, size              writes instances 0 .. firings - 1; -
 *                                          they hold old bytes before that
 *   lengths (of    -                       reads those of inputs; sets one   -
 *   CW_VARIABLE)                           for every instance of an output
 *   error text     writes, with CW_ERROR   writes, with CW_ERROR             writes, with CW_ERROR
 *
 * The runtime ends the run and names the task when a kernel
 *   - says that it fired more often than it was asked to, or less often with CW_OK;
 *   - has inputs and returns CW_END;
 *   - returns a status that is not in cw_status;
 *   - sets no length for an instance of a CW_VARIABLE output, or one above the port's bytes;
 *   - does not return from `fire`, or makes no progress.
 * It cannot see a read or a write outside the instances above.
 *
 * A kernel may block (a source that reads a pipe), but then its element waits with it.
 */
#ifndef CELLWEAVE_H
#define CELLWEAVE_H

#include <stdint.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of a struct or a rule below. A kernel that was built for another version is refused. */
#define CW_ABI_VERSION 1u

#define CW_EXPORT __attribute__((visibility("default")))

/* How a call ended. */
typedef enum cw_status {
    CW_OK = 0,    /* all firings are done */
    CW_END = 1,   /* `fired` firings are done, and the source has no more; only a task without inputs returns it */
    CW_AGAIN = 2, /* `fired` firings are done, and there is nothing more right now: call again with the rest */
    CW_ERROR = 3  /* firing number `fired` of this batch failed; the error text says why */
} cw_status;

typedef struct cw_result {
    uint64_t fired;  /* firings done in this call, 0 .. cw_batch.firings */
    uint32_t status; /* a cw_status */
    uint32_t reserved;
} cw_result;

/* Flags of a kernel. */
#define CW_STATELESS 1u /* firings may be computed in any order, by copies of the kernel */
/* Flags of a port. */
#define CW_IN_PLACE 1u /* input: the output of the same index may get its memory, when both have one fixed size */
#define CW_VARIABLE 2u /* the length varies: the edge's bytes are the maximum; see cw_length */
#define CW_OPTIONAL 4u /* may be left unconnected */
#define CW_REPEATED 8u /* the last port of a list: stands for one or more ports like it, NAME0, NAME1, .. */

/* What a kernel says of a port. The application gives the sizes; `init` may refuse them. */
typedef struct cw_port {
    const char *name;    /* unique among the kernel's inputs (outputs) */
    const char *dtype;   /* u8 i16 i32 i64 u32 u64 f32 f64 c64 c128; NULL = bytes */
    const uint64_t *shape; /* of one instance; NULL = as the edge's bytes give it */
    uint32_t dimensions; /* entries of shape */
    uint32_t items;      /* instances per firing; 0 and 1 mean 1, more is refused in this version */
    uint64_t bytes;      /* of one instance; 0 = any size the application gives */
    uint32_t flags;      /* CW_IN_PLACE, CW_VARIABLE, CW_OPTIONAL, CW_REPEATED */
    uint32_t reserved;
} cw_port;

/* Where an input's instances are, in one call. */
typedef struct cw_in {
    const void *base; /* the instance of firing 0 */
    uint64_t stride;  /* bytes from one instance to the next; the same as bytes, unless the port is CW_VARIABLE */
    uint64_t bytes;   /* of one instance */
    uint64_t peek;    /* firing j may read instances j .. j + peek */
    uint64_t real;    /* instances from base on that the producer made; the rest, up to firings + peek, are zeros
                       * beyond the stream's end */
} cw_in;

/* Where an output's instances go, in one call. */
typedef struct cw_out {
    void *base;
    uint64_t stride;
    uint64_t bytes;
} cw_out;

/* One call of `fire`: `firings` firings, in order. Bases are 128-byte aligned at the start of their buffer. */
typedef struct cw_batch {
    uint64_t firings;    /* at least 1 */
    uint64_t first;      /* instance number of firing 0, counted from 0 over the whole run */
    uint32_t inputs;     /* as connected, in port order; a CW_REPEATED port takes as many places as it has edges */
    uint32_t outputs;
    const cw_in *in;     /* an optional port that is not connected has base NULL */
    const cw_out *out;
    char *error;         /* room of error_bytes bytes: a message for CW_ERROR, ended by a NUL */
    uint64_t error_bytes;
} cw_batch;

/* A parameter of the task, from the application file. */
typedef struct cw_param {
    const char *name;
    const char *text;      /* NULL unless it is a text */
    const double *numbers; /* a number is one entry, true and false are 1 and 0 */
    uint64_t count;        /* entries of numbers */
} cw_param;

/* A port as connected. */
typedef struct cw_connection {
    const char *name; /* as the application writes it */
    uint64_t bytes;   /* of one instance (the maximum, if variable) */
    uint64_t peek;    /* inputs only */
} cw_connection;

/* What `init` gets. Valid only during the call. */
typedef struct cw_task {
    const char *name; /* the task's */
    const cw_param *params;
    uint64_t params_count;
    const cw_connection *inputs;
    const cw_connection *outputs;
    uint32_t inputs_count;
    uint32_t outputs_count;
    char *error; /* room of error_bytes bytes: why init refused, ended by a NUL */
    uint64_t error_bytes;
} cw_task;

typedef struct cw_kernel {
    uint32_t abi_version;  /* CW_ABI_VERSION */
    uint32_t struct_bytes; /* sizeof(cw_kernel) */
    const char *name;
    uint32_t flags; /* CW_STATELESS */
    uint32_t inputs;
    uint32_t outputs;
    uint32_t reserved;
    const cw_port *input_ports;
    const cw_port *output_ports;
    /* Makes the state; NULL: the state is NULL. CW_OK or CW_ERROR. */
    uint32_t (*init)(const cw_task *task, void **state);
    /* Required. */
    cw_result (*fire)(void *state, const cw_batch *batch);
    /* Frees the state, flushes what the kernel wrote; NULL: nothing to do. CW_OK, or CW_ERROR with a message. */
    uint32_t (*finish)(void *state, char *error, uint64_t error_bytes);
} cw_kernel;

/* Instance j of input i (firing j's own; its window is j .. j + peek). */
static inline const void *cw_in_at(const cw_batch *b, uint32_t i, uint64_t j) {
    return (const char *)b->in[i].base + j * b->in[i].stride;
}

/* The k-th further instance that firing j of input i may look at, 0 <= k <= peek. */
static inline const void *cw_peek(const cw_batch *b, uint32_t i, uint64_t j, uint64_t k) {
    return cw_in_at(b, i, j + k);
}

/* Where firing j writes output o. */
static inline void *cw_out_at(const cw_batch *b, uint32_t o, uint64_t j) {
    return (char *)b->out[o].base + j * b->out[o].stride;
}

/* The length in bytes of an instance of a CW_VARIABLE port, which stands in the 8 bytes before the instance. A producer
 * must set it for every instance, to the port's bytes at most. */
static inline uint64_t cw_length(const void *instance) { return ((const uint64_t *)instance)[-1]; }
static inline void cw_set_length(void *instance, uint64_t bytes) { ((uint64_t *)instance)[-1] = bytes; }

static inline cw_result cw_done(uint64_t fired) {
    cw_result r = {fired, CW_OK, 0};
    return r;
}

static inline cw_result cw_end(uint64_t fired) {
    cw_result r = {fired, CW_END, 0};
    return r;
}

#ifdef __cplusplus
}
#endif
#endif
