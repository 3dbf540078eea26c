/* stage.h: the stages, their check and their clock, one copy for every contender.
 *
 * Stage 1 of a chain writes items, the last reads them whole, each one between copies its item and counts one hop in
 * it. With the 1 us kernel every stage, first and last too, also runs the calibrated spin on a word of the item.
 * Diamond: a source, four copies of the same item, a join that reads all four: 6 firings per item.
 *
 * An item's first 64-byte line is {number, hops, spin word, 5 constants}; further lines are 8 constants. Items of a
 * batch are contiguous. Nothing here is inlined into a contender: a call costs everyone the same. */
#ifndef STAGE_H
#define STAGE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STAGE_BRANCHES = 4, STAGE_DIAMOND = 6 };

/* What one process runs. Never changes after stage_parse: any thread may read it. */
typedef struct stage_case {
    const char *contender; /* as printed */
    const char *name;      /* null, us1, copy16k, diamond */
    uint64_t item_bytes;   /* a multiple of 64 */
    uint64_t stages;       /* firings per item */
    uint64_t items;
    uint64_t spin; /* turns of the spin per firing */
    int cpu[2];    /* where to pin, by the contender's own means */
} stage_case;

typedef struct stage_sink stage_sink;

/* argv: CONTENDER CASE STAGES ITEMS SPIN CPU CPU. Ends the process with 2 and a message when they make no sense. */
stage_case stage_parse(int argc, char **argv);
int stage_is_diamond(const stage_case *c);

/* The stages: n items each. The source starts the clock when `first` is 0, the sink stops it at the last item. */
void stage_source(const stage_case *c, uint64_t first, void *out, size_t n);
void stage_copy(const stage_case *c, const void *in, void *out, size_t n);
stage_sink *stage_sink_new(const stage_case *c);
void stage_read(stage_sink *s, const void *in, size_t n);
void stage_join(stage_sink *s, const void *const in[STAGE_BRANCHES], size_t n);

/* How many items the sink has seen, and when the clock was stopped: 0 while it runs. */
uint64_t stage_seen(const stage_sink *s);

/* Checks number, order, hops, spin and payload of everything that the sink read, prints one JSON line.
 * 0, or 1 when the check failed. */
int stage_report(stage_sink *s);

void stage_pin(int cpu);       /* this thread, or ends the process */
uint64_t stage_now_ns(void);   /* monotonic */
uint64_t stage_spin(uint64_t x, uint64_t turns);
void *stage_alloc(size_t bytes); /* zeroed, 4096-byte aligned, touched */

#ifdef __cplusplus
}
#endif
#endif
