// The bidirectional ring of 8 in SimGrid's S4U: every round each actor sends 1 kB to both neighbours through mailboxes
// and takes 1 kB from both.
//   s4u_ring ROUNDS [--cfg=...]    prints one line of JSON
// Neighbours are joined by a link of their own in each direction, so that no two messages share one: the least work for
// its network model. Sends are detached (nobody waits for them), which is faster than put() or wait_all() on puts.
#include <simgrid/s4u.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static constexpr int SIZE = 8;
static constexpr uint64_t BYTES = 1024;

static uint64_t messages = 0;

// A message is a pointer to its round's number: S4U moves no bytes.
static void turn(int self, const std::vector<uint64_t> &numbers) {
    auto box = [](int from, int to) { return sg4::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to)); };
    const int left = (self + SIZE - 1) % SIZE, right = (self + 1) % SIZE;
    sg4::Mailbox *const out[] = {box(self, left), box(self, right)}, *const in[] = {box(left, self), box(right, self)};
    for (uint64_t number : numbers) {
        for (sg4::Mailbox *b : out) b->put_init(const_cast<uint64_t *>(&numbers[number]), BYTES)->detach();
        for (sg4::Mailbox *b : in) {
            if (*b->get<uint64_t>() != number) std::abort();
            ++messages;
        }
    }
}

int main(int argc, char **argv) {
    sg4::Engine engine(&argc, argv);
    if (argc != 2) return std::fprintf(stderr, "usage: s4u_ring ROUNDS [--cfg=...]\n"), 2;
    const uint64_t rounds = std::strtoull(argv[1], nullptr, 10);
    std::vector<uint64_t> numbers(rounds);
    for (uint64_t i = 0; i < rounds; ++i) numbers[i] = i;

    auto *zone = sg4::create_full_zone("ring");
    std::vector<sg4::Host *> hosts;
    for (int i = 0; i < SIZE; ++i) hosts.push_back(zone->create_host("spe" + std::to_string(i), 3.2e9));
    for (int i = 0; i < SIZE; ++i) {
        sg4::Host *a = hosts[i], *b = hosts[(i + 1) % SIZE];
        for (auto [from, to] : {std::pair(a, b), std::pair(b, a)}) {
            auto *link = zone->create_link(from->get_name() + ">" + to->get_name(), 25.6e9)->set_latency(1e-7)->seal();
            zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(link)}, false);
        }
    }
    zone->seal();
    for (int i = 0; i < SIZE; ++i)
        sg4::Actor::create("spe" + std::to_string(i), hosts[i], [i, &numbers] { turn(i, numbers); });

    const auto start = std::chrono::steady_clock::now();
    engine.run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::printf("{\"wall_s\": %.9f, \"messages\": %llu, \"simulated_s\": %.9f}\n", wall.count(),
                static_cast<unsigned long long>(messages), sg4::Engine::get_clock());
    return 0;
}
