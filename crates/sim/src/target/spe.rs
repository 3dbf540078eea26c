//! The program of an initiating SPE: `dma-benchmark`, Algorithms 2 and 3, for any number of lines.

use super::places::{PROGRAM_BYTES, stride};
use super::{Log, Seen, Work};
use crate::{DMA_BYTES_MAX, Spe};
use machine::target::BUFFERS_MAX;

/// The mail with which an SPE tells PPE0 that it waits to be started.
const READY: u32 = 1;

/// Reports, waits for the start, does all transfers with its buffers in turn, reports its ticks.
pub(super) fn program(spe: &mut Spe<'_>, work: &Work, log: &Log) {
    let e = &work.experiment;
    // `needed` made sure that the buffers fit below the places that others read and write.
    let own = PROGRAM_BYTES;
    let mut seen = vec![Seen::NOTHING; work.lines.len()];
    let mut started_ps = [0; BUFFERS_MAX as usize];
    spe.write_mailbox(READY);
    spe.read_mailbox();
    spe.set_decrementer(u32::MAX);
    let turns = work.turns();
    for turn in 0..turns.min(e.buffers) {
        started_ps[turn as usize] = spe.now_ps();
        start(spe, work, own, turn);
    }
    for turn in 0..turns {
        let buffer = turn % e.buffers;
        spe.tags_all(1 << buffer);
        let (line, _) = work.turn(turn);
        seen[line].transfer(started_ps[buffer as usize], spe.now_ps());
        if work.loop_cycles > 0 {
            spe.compute_cycles(work.loop_cycles);
        }
        if e.compute_ns > 0 {
            spe.compute(e.compute_ns);
        }
        if turn + e.buffers < turns {
            started_ps[buffer as usize] = spe.now_ps();
            start(spe, work, own, turn + e.buffers);
        }
    }
    let ticks = u32::MAX - spe.decrementer();
    log.write(&seen, u64::from(ticks), e);
    spe.write_mailbox(ticks);
}

/// The commands of one transfer, as many as its size needs, in its buffer's tag group.
fn start(spe: &mut Spe<'_>, work: &Work, own: u32, turn: u32) {
    let e = &work.experiment;
    let (line, repeat) = work.turn(turn);
    let (tag, puts) = (turn % e.buffers, work.lines[line].puts(repeat));
    let (ls, ea) = (own + tag * stride(e), work.ends[line].at(repeat, puts));
    let mut done = 0;
    while done < e.size_bytes {
        let bytes = (e.size_bytes - done).min(DMA_BYTES_MAX);
        if puts {
            spe.put(ls + done, ea + u64::from(done), bytes, tag);
        } else {
            spe.get(ls + done, ea + u64::from(done), bytes, tag);
        }
        done += bytes;
    }
}
