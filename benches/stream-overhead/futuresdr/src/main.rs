//! FutureSDR: one block per stage.
//!   futuresdr:default      its default scheduler and buffers
//!   futuresdr:pinned       the first half of the blocks pinned to the first core, the rest to the second; default
//!                          buffers
//!   futuresdr:pinned_1MiB  the same with buffers of 1 MiB, the best of those tried by hand (32 kB to 1 MiB)

use futuresdr::prelude::*;
use futuresdr::runtime::scheduler::{CpuPinScheduler, Scheduler, SmolScheduler};
use std::ffi::{CString, c_char, c_int, c_void};
use std::process::ExitCode;
use std::sync::atomic::{AtomicPtr, Ordering};

#[repr(C)]
struct Case {
    contender: *const c_char,
    name: *const c_char,
    item_bytes: u64,
    stages: u64,
    items: u64,
    spin: u64,
    cpu: [c_int; 2],
}

unsafe extern "C" {
    fn stage_parse(argc: c_int, argv: *const *const c_char) -> Case;
    fn stage_is_diamond(case: *const Case) -> c_int;
    fn stage_source(case: *const Case, first: u64, out: *mut c_void, n: usize);
    fn stage_copy(case: *const Case, input: *const c_void, out: *mut c_void, n: usize);
    fn stage_sink_new(case: *const Case) -> *mut c_void;
    fn stage_read(sink: *mut c_void, input: *const c_void, n: usize);
    fn stage_join(sink: *mut c_void, inputs: *const *const c_void, n: usize);
    fn stage_report(sink: *mut c_void) -> c_int;
}

// SAFETY: the strings that it points to live as long as the process, and nobody writes to them.
unsafe impl Sync for Case {}
// SAFETY: as above.
unsafe impl Send for Case {}

#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Item<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Default for Item<BYTES> {
    fn default() -> Self {
        Item([0; BYTES])
    }
}

#[derive(Block)]
struct Source<const BYTES: usize> {
    #[output]
    output: DefaultCpuWriter<Item<BYTES>>,
    case: &'static Case,
    made: u64,
}

impl<const BYTES: usize> Kernel for Source<BYTES> {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _mio: &mut MessageOutputs,
        _meta: &mut BlockMeta,
    ) -> Result<()> {
        let room = self.output.slice();
        let n = (room.len() as u64).min(self.case.items - self.made) as usize;
        if n > 0 {
            // SAFETY: `room` has at least n items of the case's size.
            unsafe { stage_source(self.case, self.made, room.as_mut_ptr().cast(), n) };
            self.made += n as u64;
            self.output.produce(n);
        }
        if self.made == self.case.items {
            io.finished = true;
        }
        Ok(())
    }
}

#[derive(Block)]
struct Copy<const BYTES: usize> {
    #[input]
    input: DefaultCpuReader<Item<BYTES>>,
    #[output]
    output: DefaultCpuWriter<Item<BYTES>>,
    case: &'static Case,
}

impl<const BYTES: usize> Kernel for Copy<BYTES> {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _mio: &mut MessageOutputs,
        _meta: &mut BlockMeta,
    ) -> Result<()> {
        let from = self.input.slice();
        let there = from.len();
        let room = self.output.slice();
        let n = there.min(room.len());
        if n > 0 {
            // SAFETY: both slices have at least n items, and are different buffers.
            unsafe { stage_copy(self.case, from.as_ptr().cast(), room.as_mut_ptr().cast(), n) };
            self.input.consume(n);
            self.output.produce(n);
        }
        if self.input.finished() && n == there {
            io.finished = true;
        }
        Ok(())
    }
}

#[derive(Block)]
struct Sink<const BYTES: usize> {
    #[input]
    input: DefaultCpuReader<Item<BYTES>>,
    state: AtomicPtr<c_void>,
}

impl<const BYTES: usize> Kernel for Sink<BYTES> {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _mio: &mut MessageOutputs,
        _meta: &mut BlockMeta,
    ) -> Result<()> {
        let from = self.input.slice();
        let n = from.len();
        if n > 0 {
            // SAFETY: only this block uses the state while the flowgraph runs.
            unsafe { stage_read(self.state.load(Ordering::Relaxed), from.as_ptr().cast(), n) };
            self.input.consume(n);
        }
        if self.input.finished() {
            io.finished = true;
        }
        Ok(())
    }
}

#[derive(Block)]
struct Join {
    #[input]
    input: [DefaultCpuReader<Item<64>>; 4],
    state: AtomicPtr<c_void>,
}

impl Kernel for Join {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _mio: &mut MessageOutputs,
        _meta: &mut BlockMeta,
    ) -> Result<()> {
        let mut n = usize::MAX;
        let mut from = [std::ptr::null::<c_void>(); 4];
        for (reader, at) in self.input.iter_mut().zip(&mut from) {
            let there = reader.slice();
            n = n.min(there.len());
            *at = there.as_ptr().cast();
        }
        if n > 0 {
            // SAFETY: each of the four has at least n items; only this block uses the state while the flowgraph runs.
            unsafe { stage_join(self.state.load(Ordering::Relaxed), from.as_ptr(), n) };
            for reader in &mut self.input {
                reader.consume(n);
            }
        }
        if self.input.iter_mut().any(|r| r.finished() && r.slice().is_empty()) {
            io.finished = true;
        }
        Ok(())
    }
}

fn source<const BYTES: usize>(case: &'static Case) -> Source<BYTES> {
    Source { output: Default::default(), case, made: 0 }
}

fn copy<const BYTES: usize>(case: &'static Case) -> Copy<BYTES> {
    Copy { input: Default::default(), output: Default::default(), case }
}

/// The flowgraph of a chain. Blocks are numbered along it.
fn chain<const BYTES: usize>(case: &'static Case, state: *mut c_void) -> Result<Flowgraph> {
    let mut fg = Flowgraph::new();
    let first = fg.add_block(source::<BYTES>(case));
    let mut last: BlockId = first.into();
    for _ in 2..case.stages {
        let next: BlockId = fg.add_block(copy::<BYTES>(case)).into();
        fg.connect_dyn(last, "output", next, "input")?;
        last = next;
    }
    let sink: BlockId =
        fg.add_block(Sink::<BYTES> { input: Default::default(), state: AtomicPtr::new(state) }).into();
    fg.connect_dyn(last, "output", sink, "input")?;
    Ok(fg)
}

fn diamond(case: &'static Case, state: *mut c_void) -> Result<Flowgraph> {
    let mut fg = Flowgraph::new();
    let first: BlockId = fg.add_block(source::<64>(case)).into();
    let branches: Vec<BlockId> = (0..4).map(|_| fg.add_block(copy::<64>(case)).into()).collect();
    let join: BlockId = fg.add_block(Join { input: Default::default(), state: AtomicPtr::new(state) }).into();
    for (k, branch) in branches.into_iter().enumerate() {
        fg.connect_dyn(first, "output", branch, "input")?;
        fg.connect_dyn(branch, "output", join, format!("input[{k}]"))?;
    }
    Ok(fg)
}

fn run<S: Scheduler + Sync>(scheduler: S, fg: Flowgraph) -> Result<()> {
    Runtime::with_scheduler(scheduler).run(fg)?;
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<CString> =
        std::env::args().map(|a| CString::new(a).expect("no NUL in an argument")).collect();
    let argv: &'static [*const c_char] = Vec::leak(words.iter().map(|w| w.as_ptr()).collect());
    std::mem::forget(words);
    // SAFETY: argv holds that many NUL terminated strings, all leaked.
    let case: &'static Case = Box::leak(Box::new(unsafe { stage_parse(argv.len() as c_int, argv.as_ptr()) }));
    let contender = std::env::args().nth(1).unwrap_or_default();
    match contender.as_str() {
        "futuresdr:default" | "futuresdr:pinned" => {}
        "futuresdr:pinned_1MiB" => futuresdr::runtime::config::set("buffer_size", 1 << 20),
        other => {
            eprintln!(
                "CONTENDER: '{other}' is none of futuresdr:default, futuresdr:pinned, futuresdr:pinned_1MiB"
            );
            return ExitCode::from(2);
        }
    }
    // SAFETY: the case lives as long as the process.
    let (state, is_diamond) = unsafe { (stage_sink_new(case), stage_is_diamond(case) != 0) };
    let graph = match (is_diamond, case.item_bytes) {
        (true, _) => diamond(case, state),
        (false, 64) => chain::<64>(case, state),
        (false, _) => chain::<16384>(case, state),
    };
    let pinned = contender != "futuresdr:default";
    let half = case.stages.div_ceil(2) as usize;
    let done = graph.and_then(|fg| {
        if pinned {
            // Workers are numbered by the cores that the process may use, in order.
            run(
                CpuPinScheduler::new(
                    (0..case.stages as usize).map(|k| (k, usize::from(k >= half))).collect(),
                ),
                fg,
            )
        } else {
            run(SmolScheduler::default(), fg)
        }
    });
    if let Err(e) = done {
        eprintln!("{e}");
        return ExitCode::FAILURE;
    }
    // SAFETY: the flowgraph has ended, nobody else uses the state.
    ExitCode::from(unsafe { stage_report(state) } as u8)
}
