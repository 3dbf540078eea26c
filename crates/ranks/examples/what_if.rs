//! What would explain the latency and the bandwidth of `buffered-mpi` (0.41 us, 6.01 GB/s) where the simulated ones
//! differ: a ping-pong of two ranks in which one thing at a time is another. Nothing of it is in a preset.
//!
//!     cargo run --release -p cellweave-ranks --example what_if
//!
//! prints a table, which `benches/mpi-cell/README.md` has.

use ranks::{
    Callers, RankAnswer, RankCall, RankCosts, RankData, RankEnvelope, RankNews, RanksOptions, simulate,
};
use sim::Parameters;
use std::cell::RefCell;
use std::rc::Rc;

/// Rounds that are not timed, and those that are.
const WARM: u32 = 2;
const ROUNDS: u32 = 20;

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Begin,
    Send,
    Look,
    Wait,
    Fetch,
    End,
}

#[derive(Clone, Copy)]
struct Player {
    phase: Phase,
    entry: Option<u32>,
    /// Its last send is complete.
    sent: bool,
    rounds: u32,
    since_ps: u64,
    took_ps: u64,
}

/// Two ranks that send a message to and fro; others end at once.
struct PingPong {
    bytes: u64,
    players: RefCell<Vec<Player>>,
}

impl PingPong {
    fn data(&self) -> RankData {
        RankData { at: 0, bytes: self.bytes, misaligned: 0, pieces: 1, local: false }
    }
}

impl Callers for PingPong {
    fn next(&self, rank: usize) -> RankCall {
        let player = self.players.borrow()[rank];
        match player.phase {
            Phase::Begin => RankCall::Begin,
            Phase::Send => {
                let envelope = RankEnvelope { context: 4, source: rank as u16, tag: 5 };
                RankCall::Send { to: 1 - rank, envelope, data: self.data(), synchronous: false }
            }
            Phase::Look => RankCall::Look,
            Phase::Wait => RankCall::Wait,
            Phase::Fetch => {
                let entry = player.entry.expect("a message");
                RankCall::Fetch { from: 1 - rank, entry, data: self.data() }
            }
            Phase::End => RankCall::End,
        }
    }

    fn computed_ns(&self, _: usize) -> u64 {
        0
    }

    fn answer(&self, rank: usize, answer: RankAnswer, now_ps: u64) {
        let player = &mut self.players.borrow_mut()[rank];
        let first = if rank == 0 { Phase::Send } else { Phase::Look };
        player.phase = match (player.phase, answer) {
            (Phase::Begin, _) if rank < 2 => first,
            (Phase::Begin, _) => Phase::End,
            (Phase::Send, RankAnswer::Sent { copied, .. }) => {
                player.sent = copied;
                Phase::Look
            }
            (Phase::Look, RankAnswer::News(news)) => {
                for one in news {
                    match one {
                        RankNews::Message { entry, .. } => player.entry = Some(entry),
                        RankNews::Received { .. } => player.sent = true,
                        _ => {}
                    }
                }
                if player.sent && player.entry.is_some() { Phase::Fetch } else { Phase::Wait }
            }
            (Phase::Wait, RankAnswer::Done) => Phase::Look,
            (Phase::Fetch, _) => {
                player.entry = None;
                player.rounds += 1;
                if player.rounds == WARM {
                    player.since_ps = now_ps;
                }
                player.took_ps = now_ps - player.since_ps;
                let over = player.rounds == WARM + ROUNDS;
                match rank {
                    0 if over => Phase::End,
                    _ => Phase::Send,
                }
            }
            (_, answer) => panic!("rank {rank} was answered {answer:?}"),
        };
        // The second one ends when its last message is received.
        if rank == 1 && player.rounds == WARM + ROUNDS && player.phase == Phase::Look {
            player.phase = Phase::End;
        }
    }

    fn most_news(&self) -> usize {
        64
    }

    fn read(&self, _: usize, _: u64, into: &mut [u8]) {
        into.fill(1);
    }

    fn write(&self, _: usize, _: u64, _: &[u8]) {}
}

/// us one way.
fn one_way(parameters: &Parameters, costs: RankCosts, ranks: usize, bytes: u64) -> f64 {
    let player = Player { phase: Phase::Begin, entry: None, sent: true, rounds: 0, since_ps: 0, took_ps: 0 };
    let callers = Rc::new(PingPong { bytes, players: RefCell::new(vec![player; ranks]) });
    let options = RanksOptions { costs, ..RanksOptions::default() };
    simulate(parameters.clone(), ranks, callers.clone(), &options).expect("a ping-pong ends");
    let took_ps = callers.players.borrow()[0].took_ps;
    took_ps as f64 / 1e6 / f64::from(ROUNDS) / 2.0
}

fn main() {
    let machine = Parameters::named("qs20").expect("a machine");
    let costs = RankCosts::default();
    let changed = |change: &dyn Fn(&mut Parameters)| {
        let mut machine = machine.clone();
        change(&mut machine);
        machine
    };
    let plain = machine.clone();
    let rows: [(&str, Parameters, RankCosts, usize); 10] = [
        ("as it is", plain.clone(), costs, 2),
        ("8 ranks: 7 queues are looked at", plain.clone(), costs, 8),
        ("16 ranks: 15 queues", plain.clone(), costs, 16),
        (
            "every entry of a queue is looked at",
            plain.clone(),
            RankCosts { queue: 16 * costs.queue, ..costs },
            8,
        ),
        ("each step's code twice as long", plain.clone(), twice(costs), 2),
        ("a call of 400 cycles in place of 60", plain, RankCosts { call: 400, ..costs }, 2),
        ("tag status 200 cycles later", changed(&|p| p.spu.tag_status += 100), costs, 2),
        ("main memory 300 ns later", changed(&|p| p.memory.latency += 480), costs, 2),
        ("8 lines under way instead of 16", changed(&|p| p.mfc.lines = 8), costs, 2),
        (
            "256 pages of 4 kB are known",
            changed(&|p| (p.mfc.tlb_entries, p.mfc.page_bytes) = (256, 4096)),
            costs,
            2,
        ),
    ];
    println!("| what if | 0 bytes, us | 4 MB, GB/s |\n|---|---|---|");
    for (name, machine, costs, ranks) in rows {
        let latency = one_way(&machine, costs, ranks, 0);
        let bytes = 4 << 20;
        let bandwidth = bytes as f64 / one_way(&machine, costs, ranks, bytes) / 1e3;
        println!("| {name} | {latency:.3} | {bandwidth:.2} |");
    }
    println!("| `buffered-mpi` | 0.41 | 6.01 |");
}

/// Every step takes twice as many cycles.
fn twice(costs: RankCosts) -> RankCosts {
    let RankCosts { call, send, entry, look, queue, found, free, piece, .. } = costs;
    RankCosts {
        call: 2 * call,
        send: 2 * send,
        entry: 2 * entry,
        look: 2 * look,
        queue: 2 * queue,
        found: 2 * found,
        free: 2 * free,
        piece: 2 * piece,
        ..costs
    }
}
