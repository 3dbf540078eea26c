//! The programs of PPEs: the one that starts all SPEs (`dma-benchmark`, Algorithm 1), and transfers by a PPE.

use super::places::{offset, stride};
use super::{End, Log, Seen, Work};
use crate::{Address, DMA_BYTES_MAX, Ppe, SimError, Simulation};
use machine::target::BUFFERS_MAX;
use std::cell::Cell;
use std::rc::Rc;

/// What PPE0 sends an SPE to start it.
const START: u32 = 1;
/// How often a PPE that initiates transfers looks whether it may.
const LOOK_NS: u64 = 50;

/// A PPE that initiates transfers: its number, what it does, and where in its memory the bytes go.
type Initiator = (usize, Work, Vec<Address>, Log);

/// Whom PPE0 starts.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pub spes: Vec<usize>,
    pub ppes: Vec<Initiator>,
}

impl Starts {
    /// Gives PPE0 its program, and the other one if it initiates something.
    pub(super) fn programs(self, sim: &mut Simulation) -> Result<(), SimError> {
        let started = Rc::new(Cell::new(false));
        let mut own = None;
        for initiator in self.ppes {
            if initiator.0 == 0 {
                own = Some(initiator);
                continue;
            }
            let started = started.clone();
            sim.ppe(initiator.0, "transfers", move |ppe| {
                while !started.get() {
                    ppe.compute(LOOK_NS);
                }
                transfers(ppe, &initiator);
            })?;
        }
        let spes = self.spes;
        sim.ppe(0, "start", move |ppe| {
            for &spe in &spes {
                ppe.read_mailbox(spe);
            }
            for &spe in &spes {
                ppe.write_mailbox(spe, START);
            }
            started.set(true);
            if let Some(own) = own {
                transfers(ppe, &own);
            }
            for &spe in &spes {
                ppe.read_mailbox(spe);
            }
        })
    }
}

/// As an SPE does it, but through the proxy queues of SPEs, and with the time base. What a PPE reads is copied to main
/// memory first; it has read it when it has loaded it from there (`streaming-schedule`, 3.1.2).
fn transfers(ppe: &mut Ppe<'_>, (_, work, memory, log): &Initiator) {
    let e = &work.experiment;
    let mut seen = vec![Seen::NOTHING; work.lines.len()];
    let mut started_ps = [0; BUFFERS_MAX as usize];
    let turns = work.turns();
    let first_tick = ppe.timebase();
    for turn in 0..turns.min(e.buffers) {
        started_ps[turn as usize] = ppe.now_ps();
        start(ppe, work, memory, turn);
    }
    for turn in 0..turns {
        let buffer = turn % e.buffers;
        let (line, repeat) = work.turn(turn);
        if let End::Store(spe) = work.lines[line].end {
            ppe.proxy_wait(spe, 1 << buffer);
            if !work.lines[line].puts(repeat) {
                ppe.load(memory[buffer as usize], e.size_bytes);
            }
        }
        seen[line].transfer(started_ps[buffer as usize], ppe.now_ps());
        if e.compute_ns > 0 {
            ppe.compute(e.compute_ns);
        }
        if turn + e.buffers < turns {
            started_ps[buffer as usize] = ppe.now_ps();
            start(ppe, work, memory, turn + e.buffers);
        }
    }
    let ticks = ppe.timebase() - first_tick;
    log.write(&seen, ticks, e);
}

fn start(ppe: &mut Ppe<'_>, work: &Work, memory: &[Address], turn: u32) {
    let e = &work.experiment;
    let (line, repeat) = work.turn(turn);
    let End::Store(spe) = work.lines[line].end else { return };
    let (tag, puts) = (turn % e.buffers, work.lines[line].puts(repeat));
    let (ls, ea) = (offset(stride(e), puts), memory[tag as usize]);
    let mut done = 0;
    while done < e.size_bytes {
        let bytes = (e.size_bytes - done).min(DMA_BYTES_MAX);
        if puts {
            ppe.proxy_get(spe, ls + done, ea + u64::from(done), bytes, tag);
        } else {
            ppe.proxy_put(spe, ls + done, ea + u64::from(done), bytes, tag);
        }
        done += bytes;
    }
}
