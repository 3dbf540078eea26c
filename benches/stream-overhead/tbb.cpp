// oneTBB, an item per token, at most two threads, pinned.
//   tbb:parallel_pipeline  serial in-order filters; chains only
//   tbb:flow_graph         serial function nodes; a limiter bounds what is in flight, and a sequencer before the sink
//                          (after a join by item number in the diamond) restores the order, which is lost without it
// A token carries its own buffers along, as the library's documentation advises.
#include "stage.h"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace flow = tbb::flow;

struct token {
    uint64_t number;
    char *buffer[1 + STAGE_BRANCHES];
};

// Tokens in flight, the best of those tried (4 to 256): large items stay in L1 with few, all else wants to run ahead.
static size_t tokens_of(const stage_case &c) { return c.item_bytes == 64 || c.stages == 2 ? 64 : 4; }

struct pinning : tbb::task_scheduler_observer {
    const stage_case &c;
    explicit pinning(const stage_case &of) : c(of) { observe(true); }
    void on_scheduler_entry(bool) override {
        int slot = tbb::this_task_arena::current_thread_index();
        if (slot == 0 || slot == 1) stage_pin(c.cpu[slot]);
    }
};

struct bench {
    stage_case c;
    stage_sink *sink;
    std::vector<token> pool;
    uint64_t made = 0;

    explicit bench(const stage_case &of) : c(of), sink(stage_sink_new(&c)), pool(tokens_of(of) + 2) {
        int buffers = stage_is_diamond(&c) ? 1 + STAGE_BRANCHES : 2;
        for (token &t : pool)
            for (int k = 0; k < buffers; ++k) t.buffer[k] = static_cast<char *>(stage_alloc(c.item_bytes));
    }
    token *make() {
        token *t = &pool[made % pool.size()];
        t->number = made++;
        stage_source(&c, t->number, t->buffer[0], 1);
        return t;
    }
    token *copy(token *t, uint64_t stage) {
        stage_copy(&c, t->buffer[(stage - 1) & 1], t->buffer[stage & 1], 1);
        return t;
    }
    void read(token *t) { stage_read(sink, t->buffer[(c.stages - 2) & 1], 1); }
};

static void pipeline(bench &b) {
    const auto mode = tbb::filter_mode::serial_in_order;
    auto chain = tbb::make_filter<void, token *>(mode, [&](tbb::flow_control &fc) -> token * {
        if (b.made == b.c.items) {
            fc.stop();
            return nullptr;
        }
        return b.make();
    });
    for (uint64_t s = 1; s + 1 < b.c.stages; ++s)
        chain = chain & tbb::make_filter<token *, token *>(mode, [&b, s](token *t) { return b.copy(t, s); });
    tbb::parallel_pipeline(tokens_of(b.c),
                           chain & tbb::make_filter<token *, void>(mode, [&](token *t) { b.read(t); }));
}

static void graph(bench &b) {
    using node = flow::function_node<token *, token *>;
    flow::graph g;
    flow::input_node<token *> source(g, [&](tbb::flow_control &fc) -> token * {
        if (b.made == b.c.items) {
            fc.stop();
            return nullptr;
        }
        return b.make();
    });
    flow::limiter_node<token *> limit(g, tokens_of(b.c));
    flow::sequencer_node<token *> order(g, [](token *t) -> size_t { return t->number; });
    flow::function_node<token *, flow::continue_msg> sink(g, flow::serial, [&](token *t) {
        if (stage_is_diamond(&b.c)) {
            const void *in[STAGE_BRANCHES];
            for (int k = 0; k < STAGE_BRANCHES; ++k) in[k] = t->buffer[1 + k];
            stage_join(b.sink, in, 1);
        } else {
            b.read(t);
        }
        return flow::continue_msg();
    });
    flow::make_edge(source, limit);
    flow::make_edge(order, sink);
    flow::make_edge(sink, limit.decrementer());
    std::vector<std::unique_ptr<node>> copies;

    auto key = [](token *t) -> uint64_t { return t->number; };
    flow::join_node<std::tuple<token *, token *, token *, token *>, flow::key_matching<uint64_t>> join(g, key, key, key,
                                                                                                      key);
    flow::function_node<std::tuple<token *, token *, token *, token *>, token *> first(
        g, flow::serial, [](const std::tuple<token *, token *, token *, token *> &t) { return std::get<0>(t); });
    if (stage_is_diamond(&b.c)) {
        for (int k = 1; k <= STAGE_BRANCHES; ++k) {
            copies.push_back(std::make_unique<node>(g, flow::serial, [&b, k](token *t) {
                stage_copy(&b.c, t->buffer[0], t->buffer[k], 1);
                return t;
            }));
            flow::make_edge(limit, *copies.back());
        }
        flow::make_edge(*copies[0], flow::input_port<0>(join));
        flow::make_edge(*copies[1], flow::input_port<1>(join));
        flow::make_edge(*copies[2], flow::input_port<2>(join));
        flow::make_edge(*copies[3], flow::input_port<3>(join));
        flow::make_edge(join, first);
        flow::make_edge(first, order);
    } else {
        flow::sender<token *> *last = &limit;
        for (uint64_t s = 1; s + 1 < b.c.stages; ++s) {
            copies.push_back(
                std::make_unique<node>(g, flow::serial, [&b, s](token *t) { return b.copy(t, s); }));
            flow::make_edge(*last, *copies.back());
            last = copies.back().get();
        }
        flow::make_edge(*last, order);
    }
    source.activate();
    g.wait_for_all();
}

int main(int argc, char **argv) {
    stage_case c = stage_parse(argc, argv);
    bool pipe = std::strcmp(c.contender, "tbb:parallel_pipeline") == 0;
    if (!pipe && std::strcmp(c.contender, "tbb:flow_graph") != 0) {
        std::fprintf(stderr, "CONTENDER: '%s' is none of tbb:parallel_pipeline, tbb:flow_graph\n", c.contender);
        return 2;
    }
    if (pipe && stage_is_diamond(&c)) {
        std::fprintf(stderr, "parallel_pipeline has no branches: no diamond\n");
        return 2;
    }
    tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    pinning pins(c);
    bench b(c);
    if (pipe) pipeline(b);
    else graph(b);
    return stage_report(b.sink);
}
