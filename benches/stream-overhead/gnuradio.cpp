// GNU Radio 3.10: one sync_block per stage, so one thread per stage, each pinned by set_processor_affinity: the first
// half of the stages to the first core, the rest to the second.
//   gnuradio:pinned      buffers as they come (64 kB)
//   gnuradio:pinned_1MiB buffers of 1 MiB, the best of those tried by hand (64 kB to 4 MiB)
//   gnuradio:one_item    at most one item per call (set_max_noutput_items), what a per-item program gets
#include "stage.h"

#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

static constexpr int ended = gr::block::WORK_DONE;

struct source : gr::sync_block {
    const stage_case &c;
    uint64_t made = 0;
    explicit source(const stage_case &of)
        : gr::sync_block("source", gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, static_cast<int>(of.item_bytes))),
          c(of) {}
    int work(int room, gr_vector_const_void_star &, gr_vector_void_star &out) override {
        uint64_t n = std::min<uint64_t>(static_cast<uint64_t>(room), c.items - made);
        if (n == 0) return ended;
        stage_source(&c, made, out[0], n);
        made += n;
        return static_cast<int>(n);
    }
};

struct copy : gr::sync_block {
    const stage_case &c;
    explicit copy(const stage_case &of)
        : gr::sync_block("copy", gr::io_signature::make(1, 1, static_cast<int>(of.item_bytes)),
                         gr::io_signature::make(1, 1, static_cast<int>(of.item_bytes))),
          c(of) {}
    int work(int n, gr_vector_const_void_star &in, gr_vector_void_star &out) override {
        stage_copy(&c, in[0], out[0], static_cast<size_t>(n));
        return n;
    }
};

struct sink : gr::sync_block {
    stage_sink *state;
    bool joins;
    explicit sink(const stage_case &of)
        : gr::sync_block("sink",
                         gr::io_signature::make(stage_is_diamond(&of) ? STAGE_BRANCHES : 1,
                                                stage_is_diamond(&of) ? STAGE_BRANCHES : 1,
                                                static_cast<int>(of.item_bytes)),
                         gr::io_signature::make(0, 0, 0)),
          state(stage_sink_new(&of)), joins(stage_is_diamond(&of)) {}
    int work(int n, gr_vector_const_void_star &in, gr_vector_void_star &) override {
        if (joins) stage_join(state, in.data(), static_cast<size_t>(n));
        else stage_read(state, in[0], static_cast<size_t>(n));
        return n;
    }
};

int main(int argc, char **argv) {
    static const stage_case c = stage_parse(argc, argv);
    bool single = std::strcmp(c.contender, "gnuradio:one_item") == 0;
    bool large = std::strcmp(c.contender, "gnuradio:pinned_1MiB") == 0;
    if (!single && !large && std::strcmp(c.contender, "gnuradio:pinned") != 0) {
        std::fprintf(stderr, "CONTENDER: '%s' is none of gnuradio:pinned, gnuradio:pinned_1MiB, gnuradio:one_item\n",
                     c.contender);
        return 2;
    }
    auto top = gr::make_top_block("overhead");
    auto first = gnuradio::make_block_sptr<source>(c);
    auto last = gnuradio::make_block_sptr<sink>(c);
    std::vector<gr::block_sptr> blocks{first};
    for (uint64_t k = 2; k < c.stages; ++k) blocks.push_back(gnuradio::make_block_sptr<copy>(c));
    blocks.push_back(last);
    if (stage_is_diamond(&c)) {
        for (int k = 0; k < STAGE_BRANCHES; ++k) {
            auto branch = blocks[static_cast<size_t>(1 + k)];
            top->connect(first, 0, branch, 0);
            top->connect(branch, 0, last, k);
        }
    } else {
        for (size_t k = 1; k < blocks.size(); ++k) top->connect(blocks[k - 1], 0, blocks[k], 0);
    }
    for (size_t k = 0; k < blocks.size(); ++k) {
        blocks[k]->set_processor_affinity({c.cpu[k < (blocks.size() + 1) / 2 ? 0 : 1]});
        if (single) blocks[k]->set_max_noutput_items(1);
        if (large && k + 1 < blocks.size()) blocks[k]->set_min_output_buffer(static_cast<long>((1 << 20) / c.item_bytes));
    }
    top->run();
    return stage_report(last->state);
}
