//! A machine with programs on it: building it, and the loop that runs it. Its state is changed here and below only:
//!
//! | module | what it does |
//! |---|---|
//! | `check` | the commands that the hardware traps |
//! | `calls` | cost of calls, why they trap, whether they wait |
//! | `perform` | effects of calls |
//! | `transfer` | lines from their queue to their end |

mod calls;
mod check;
mod perform;
mod transfer;

pub use check::{DMA_BYTES_MAX, LIST_MAX, PPE_BYTES_MAX};

use crate::address::Location;
use crate::bus::Bus;
use crate::controller::Controller;
use crate::copies::{PpeCaches, Reservations};
use crate::ids::UnitId;
use crate::line::Lines;
use crate::link::Link;
use crate::memory::MainMemory;
use crate::mfc::Mfc;
use crate::op::{Op, Reply, Stepper};
use crate::outcome::Simulated;
use crate::program::Body;
use crate::race::Races;
use crate::record::Record;
use crate::spe::Shared;
use crate::store::LocalStore;
use crate::trace::{Trace, TraceSpan};
use crate::unit::{SpeState, UnitState};
use crate::wheel::{Wheel, WheelEvent};
use crate::{Address, Parameters, Ppe, SimError, SimWatch, Spe, layout};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Operations without any time passing after which a program counts as stuck.
const TIMELESS: u32 = 5_000_000;
/// The end of time: beyond it, cycles in picoseconds would overflow (65 simulated days).
const END: u64 = 1 << 53;
/// Events, or operations without any time passing, between two looks at whether to stop (a power of two).
const LOOK: u32 = 1024;

/// A machine with programs on it.
///
/// ```
/// use sim::{Parameters, Simulation};
/// use std::{cell::Cell, rc::Rc};
///
/// let mut cell = Simulation::new(Parameters::named("cell").unwrap())?;
/// let source = cell.allocate(0, 16, 16)?;
/// cell.memory_mut(source, 16).copy_from_slice(b"real bytes move.");
/// let seen = Rc::new(Cell::new(0));
/// let result = seen.clone();
/// cell.spe(3, "reader", move |spe| {
///     let buffer = spe.alloc(16, 16);
///     spe.get(buffer, source, 16, 0);
///     spe.tags_all(1);
///     result.set(spe.bytes(buffer, 16)[0]);
/// })?;
/// let outcome = cell.run()?;
/// assert_eq!(seen.get(), b'r');
/// assert!(outcome.elapsed_ns() > 90.0);
/// # Ok::<(), sim::SimError>(())
/// ```
pub struct Simulation {
    p: Parameters,
    wheel: Wheel,
    lines: Lines,
    mfcs: Vec<Mfc>,
    buses: Vec<Bus>,
    controllers: Vec<Controller>,
    link: Link,
    memory: MainMemory,
    caches: PpeCaches,
    reservations: Reservations,
    spes: Vec<SpeState>,
    /// What each unit's program and the engine share; SPEs first, then PPEs.
    shared: Vec<Rc<Shared>>,
    units: Vec<UnitState>,
    /// Chip and ramp of each SPE.
    homes: Vec<(usize, usize)>,
    record: Record,
    races: Rc<Races>,
    watch: SimWatch,
    events: u32,
    stop_at: u64,
    failed: Option<SimError>,
    /// The error that ended it; it cannot go on.
    ended: Option<SimError>,
    finished: u64,
}

impl Simulation {
    /// A machine without programs.
    ///
    /// # Errors
    /// [`SimError::Parameter`]; [`SimError::Request`] when this computer cannot provide the memory.
    pub fn new(parameters: Parameters) -> Result<Self, SimError> {
        parameters.check()?;
        let p = parameters;
        let (spes, ppes) = (p.spes(), p.ppes());
        let names = (0..spes).map(|i| format!("SPE{i}")).chain((0..ppes).map(|i| format!("PPE{i}")));
        let (races, watch) = (Rc::new(Races::default()), SimWatch::new());
        let shared = |_| shared_with(&races, &watch);
        Ok(Self {
            wheel: Wheel::new(),
            lines: Lines::new(),
            mfcs: (0..spes).map(|_| Mfc::new(p.mfc.tlb_entries)).collect(),
            buses: (0..p.chips).map(|_| Bus::new(p.rules.clone())).collect(),
            controllers: (0..p.chips).map(|_| Controller::new()).collect(),
            link: Link::default(),
            memory: MainMemory::new(p.chips, p.memory_bytes)?,
            caches: PpeCaches::new(p.chips),
            reservations: Reservations::new(spes),
            spes: (0..spes).map(|_| SpeState::default()).collect(),
            shared: (0..spes + ppes).map(shared).collect(),
            units: names.map(UnitState::new).collect(),
            homes: (0..spes).map(|i| p.physical(i)).map(|(chip, i)| (chip, layout::SPE[i])).collect(),
            record: Record::new(p.chips, spes),
            races,
            watch,
            events: 0,
            stop_at: END,
            failed: None,
            ended: None,
            finished: 0,
            p,
        })
    }

    /// The machine's parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.p
    }

    /// Takes `bytes` of a chip's main memory; `align` is a power of two. Programs can use only memory that was taken.
    ///
    /// # Errors
    /// [`SimError::Request`] when there is no such chip, or not enough left.
    pub fn allocate(&mut self, chip: usize, bytes: u64, align: u64) -> Result<Address, SimError> {
        self.memory.allocate(chip, bytes, align).map(Address)
    }

    /// Whether these bytes of main memory were taken.
    ///
    /// # Errors
    /// [`SimError::Request`] when not: it says what was taken nearby.
    pub fn check_allocated(&self, at: Address, bytes: u64) -> Result<(), SimError> {
        self.range(at, bytes).map(drop).map_err(SimError::Request)
    }

    /// Main memory from `at` on.
    ///
    /// # Panics
    /// When that is not main memory.
    pub fn memory(&self, at: Address, bytes: u64) -> &[u8] {
        self.memory.bytes(at.0, bytes as usize)
    }

    /// Main memory from `at` on, to be filled before programs run.
    ///
    /// # Panics
    /// When that is not main memory.
    pub fn memory_mut(&mut self, at: Address, bytes: u64) -> &mut [u8] {
        self.memory.bytes_mut(at.0, bytes as usize)
    }

    /// Where the local store of an SPE starts.
    pub fn local_store(&self, spe: usize) -> Address {
        Address::local_store(spe)
    }

    /// Says that the PPE has just written this memory: it is in its cache, and comes from there. What is not memory is
    /// not in its cache either.
    pub fn cache_in_ppe(&mut self, at: Address, bytes: u64) {
        let end = (at + bytes).0.min(self.memory.len());
        self.caches.written_by_ppe(at.0, end);
    }

    /// Gives an SPE a program.
    ///
    /// # Errors
    /// [`SimError::Request`] when there is no such SPE, or it has a program.
    #[track_caller]
    pub fn spe(
        &mut self,
        spe: usize,
        name: impl Into<String>,
        program: impl FnOnce(&mut Spe<'_>) + 'static,
    ) -> Result<(), SimError> {
        if spe >= self.spes.len() {
            let (machine, n) = (&self.p.name, self.spes.len());
            return Err(SimError::Request(format!(
                "a program for SPE{spe}; {machine} has {n} SPEs, from SPE0 on"
            )));
        }
        let shared = self.shared[spe].clone();
        let body = Body::closure(move |yielder| program(&mut Spe::new(yielder, shared, spe)))?;
        self.start(UnitId::new(spe), name.into(), body)
    }

    /// Gives a PPE a program.
    ///
    /// # Errors
    /// [`SimError::Request`] when there is no such PPE, or it has a program.
    #[track_caller]
    pub fn ppe(
        &mut self,
        ppe: usize,
        name: impl Into<String>,
        program: impl FnOnce(&mut Ppe<'_>) + 'static,
    ) -> Result<(), SimError> {
        let unit = self.ppe_unit(ppe)?;
        let shared = self.shared[unit.index()].clone();
        let body = Body::closure(move |yielder| program(&mut Ppe::new(yielder, shared, ppe)))?;
        self.start(unit, name.into(), body)
    }

    /// Gives a PPE a second program, which runs on its other hardware thread: both take the time that they would take
    /// alone. Its calls are those of the first.
    ///
    /// # Errors
    /// [`SimError::Request`] when there is no such PPE.
    #[track_caller]
    pub fn ppe_beside(
        &mut self,
        ppe: usize,
        name: impl Into<String>,
        program: impl FnOnce(&mut Ppe<'_>) + 'static,
    ) -> Result<(), SimError> {
        self.ppe_unit(ppe)?;
        let shared = shared_with(&self.races, &self.watch);
        let unit = UnitId::new(self.units.len());
        self.shared.push(shared.clone());
        self.units.push(UnitState::new(format!("PPE{ppe}, second thread")));
        let body = Body::closure(move |yielder| program(&mut Ppe::new(yielder, shared, ppe)))?;
        self.start(unit, name.into(), body)
    }

    /// Gives an SPE a program that is asked step by step.
    ///
    /// # Errors
    /// [`SimError::Request`] when there is no such SPE, or it has a program.
    #[track_caller]
    pub fn spe_stepper(&mut self, spe: usize, name: &str, program: Box<dyn Stepper>) -> Result<(), SimError> {
        if spe >= self.spes.len() {
            let (machine, n) = (&self.p.name, self.spes.len());
            return Err(SimError::Request(format!(
                "a program for SPE{spe}; {machine} has {n} SPEs, from SPE0 on"
            )));
        }
        self.start(UnitId::new(spe), name.into(), Body::Stepper(program))
    }

    /// Gives a PPE a program that is asked step by step.
    ///
    /// # Errors
    /// [`SimError::Request`] when there is no such PPE, or it has a program.
    #[track_caller]
    pub fn ppe_stepper(&mut self, ppe: usize, name: &str, program: Box<dyn Stepper>) -> Result<(), SimError> {
        let unit = self.ppe_unit(ppe)?;
        self.start(unit, name.into(), Body::Stepper(program))
    }

    fn ppe_unit(&self, ppe: usize) -> Result<UnitId, SimError> {
        if ppe < self.p.ppes() {
            return Ok(UnitId::new(self.spes.len() + ppe));
        }
        let (machine, n) = (&self.p.name, self.p.ppes());
        Err(SimError::Request(format!("a program for PPE{ppe}; {machine} has {n}, from PPE0 on")))
    }

    #[track_caller]
    fn start(&mut self, unit: UnitId, program: String, body: Body) -> Result<(), SimError> {
        let u = &mut self.units[unit.index()];
        if u.body.is_some() {
            return Err(SimError::Request(format!("{} has a program already: {}", u.name, u.program)));
        }
        u.program = program;
        u.given = Some(std::panic::Location::caller());
        u.body = Some(body);
        u.reply = Some(Reply::Done);
        self.wheel.push(self.wheel.now(), WheelEvent::Act(unit));
        Ok(())
    }

    /// Whether to record a trace.
    pub fn trace(&mut self, keep: bool) {
        self.record.keep_trace(keep);
    }

    /// Whether a program that uses bytes while a transfer moves them ends the simulation with an [`SimError::Race`];
    /// no, by default. Call this before [`run`](Self::run). Flags are no races: one unit may poll for what another one
    /// writes with a single transfer of up to 16 bytes, and atomic commands may meet on a line of main memory.
    pub fn detect_races(&mut self, detect: bool) {
        self.races.on.set(detect);
    }

    /// Each unit by name (SPEs first, then PPEs), with its program and the line that gave it.
    pub fn programs(&self) -> Vec<String> {
        let given = |at: &std::panic::Location<'_>| format!(", given at {}:{}", at.file(), at.line());
        let program =
            |u: &UnitState| format!("{} ({}{})", u.name, u.program, u.given.map_or_else(String::new, given));
        self.units.iter().map(program).collect()
    }

    /// A look at this simulation for another thread.
    pub fn watch(&self) -> SimWatch {
        self.watch.clone()
    }

    /// Ends the simulation with an error when its programs are not done by that time; at the most, and by default,
    /// after 2^53 cycles, 65 days.
    pub fn stop_after(&mut self, cycles: u64) {
        self.stop_at = cycles.min(END);
    }

    /// Runs until every program is done and nothing is under way. Then programs can be given again, and run from that
    /// time on with the memory as it is; counters and trace start anew.
    ///
    /// # Errors
    /// What ended it before: a trap, a panic, a deadlock, a race, the end of the time that was allowed. There is no
    /// going on after an error.
    pub fn run(&mut self) -> Result<Simulated, SimError> {
        if let Some(error) = &self.ended {
            return Err(SimError::Request(format!("this simulation has ended: {error}")));
        }
        let outcome = self.run_to_the_end();
        self.ended = outcome.as_ref().err().cloned();
        outcome
    }

    fn run_to_the_end(&mut self) -> Result<Simulated, SimError> {
        while let Some(event) = self.wheel.pop() {
            if self.wheel.now() > self.stop_at && self.units.iter().any(|u| u.body.is_some()) {
                return Err(SimError::TimeUp { cycle: self.stop_at, running: self.unfinished() });
            }
            self.events = self.events.wrapping_add(1);
            if self.events & (LOOK - 1) == 0 {
                self.watch.is_at(self.wheel.now());
                if self.watch.stopped() {
                    return Err(self.stopped());
                }
            }
            match event {
                WheelEvent::Act(unit) => self.act(unit),
                WheelEvent::Issue(mfc) => {
                    self.mfcs[usize::from(mfc)].issues_at = u64::MAX;
                    self.issue(usize::from(mfc));
                }
                WheelEvent::Ready(line) => self.ready(line),
                WheelEvent::Arbitrate(chip) => self.arbitrate(usize::from(chip)),
                WheelEvent::Sent(line) => self.sent(line),
                WheelEvent::Arrived(line) => self.arrived(line),
                WheelEvent::Read(line) => self.read(line),
                WheelEvent::Memory(chip) => self.look_at_memory(usize::from(chip)),
            }
            if self.failed.is_some() {
                return Err(self.failed.take().expect("it is some"));
            }
        }
        let mut waiting = self.unfinished();
        waiting.extend(self.mail_without_room());
        if !waiting.is_empty() {
            return Err(SimError::Deadlock { cycle: self.wheel.now(), waiting });
        }
        debug_assert_eq!(self.lines.under_way(), 0);
        for (chip, controller) in self.controllers.iter_mut().enumerate() {
            self.record.chip(chip).bank_lines = std::mem::take(&mut controller.lines);
            self.buses[chip].count(self.record.chip(chip));
        }
        self.record.finish(std::mem::take(&mut self.link.lines), |trace| {
            trace.units = self.units.iter().map(|u| (u.name.clone(), u.program.clone())).collect();
            trace.ramps = Trace::ramps(self.p.chips, &self.homes);
        });
        let (hash, counters, trace) = self.record.take();
        Ok(Simulated { cycles: self.finished, hash, counters, trace })
    }

    fn stopped(&self) -> SimError {
        SimError::Stopped { cycle: self.wheel.now(), running: self.unfinished() }
    }

    /// Puts that wait at a mailbox that no program reads.
    fn mail_without_room(&self) -> Vec<String> {
        let mail =
            self.spes.iter().enumerate().flat_map(|(spe, s)| s.mail.iter().map(move |&line| (spe, line)));
        mail.map(|(spe, line)| {
            let from = &self.units[usize::from(self.lines[line].mfc)].name;
            format!("a put of {from} waits for room in the mailbox of SPE{spe}")
        })
        .collect()
    }

    fn unfinished(&self) -> Vec<String> {
        let left = self.units.iter().filter(|u| u.body.is_some());
        left.map(|u| match &u.op {
            Some(op) => format!("{} ({}) waits for {}", u.name, u.program, op.awaited()),
            None => format!("{} ({}) runs", u.name, u.program),
        })
        .collect()
    }

    #[inline]
    fn mix(&mut self, value: u64) {
        self.record.mix(value);
    }

    fn trap(&mut self, unit: UnitId, message: String) {
        if self.watch.stopped() {
            self.failed = Some(self.stopped());
            return;
        }
        let u = &self.units[unit.index()];
        let (cycle, unit) = (self.wheel.now(), u.name.clone());
        self.failed = Some(SimError::Trap { unit, program: u.program.clone(), cycle, message });
    }

    fn race(&mut self, unit: UnitId, message: String) {
        let u = &self.units[unit.index()];
        let (cycle, unit) = (self.wheel.now(), u.name.clone());
        self.failed = Some(SimError::Race { unit, program: u.program.clone(), cycle, message });
    }

    /// A unit's turn: its operation takes effect, or its answer is handed over.
    fn act(&mut self, unit: UnitId) {
        self.units[unit.index()].woken = false;
        let mut reply = match self.units[unit.index()].reply.take() {
            Some(reply) => reply,
            None => match self.perform(unit) {
                Some(reply) => reply,
                None => return,
            },
        };
        // Once a turn: looking at the local store is an operation for steppers, and none for closures.
        self.mix(self.wheel.now() ^ u64::from(unit.0) << 56);
        loop {
            let now = self.wheel.now();
            self.shared[unit.index()].cycle.set(now);
            self.watch.is_at(now);
            let u = &mut self.units[unit.index()];
            let Some(body) = &mut u.body else { return };
            self.watch.begins(unit.index());
            let stepped = body.resume(reply, now);
            self.watch.ends();
            match stepped {
                Ok(Some(op)) => {
                    let cycles = self.before(unit, &op);
                    let u = &mut self.units[unit.index()];
                    u.op = Some(op);
                    if cycles > 0 {
                        self.wheel.push(now + cycles, WheelEvent::Act(unit));
                        return;
                    }
                    if u.timeless_at != now {
                        (u.timeless, u.timeless_at) = (0, now);
                    }
                    u.timeless += 1;
                    if u.timeless & (LOOK - 1) == 0 && self.watch.stopped() {
                        self.failed = Some(self.stopped());
                        return;
                    }
                    if u.timeless > TIMELESS {
                        return self.trap(
                            unit,
                            format!(
                                "{TIMELESS} operations in a row without any time passing: \
                                 a loop that never yields?"
                            ),
                        );
                    }
                    match self.perform(unit) {
                        Some(answer) => reply = answer,
                        None => return,
                    }
                }
                Ok(None) => {
                    u.body = None;
                    u.op = None;
                    self.finished = now;
                    self.mix(now ^ u64::from(unit.0));
                    return;
                }
                Err(message) => {
                    let (name, program) = (u.name.clone(), u.program.clone());
                    // A coroutine that panicked has unwound; nothing is left to go on with.
                    u.body = None;
                    self.failed = Some(SimError::Panic { unit: name, program, cycle: now, message });
                    return;
                }
            }
        }
    }

    /// The operation cannot go on now: [`wake`](Self::wake) tries it again.
    fn wait(&mut self, unit: UnitId) -> Option<Reply> {
        let u = &mut self.units[unit.index()];
        if !u.waiting {
            u.waiting = true;
            u.since = self.wheel.now();
        }
        None
    }

    /// The operation is done: the answer is handed over `cycles` later.
    #[inline]
    fn answer(&mut self, unit: UnitId, op: &Op, reply: Reply, cycles: u64) -> Option<Reply> {
        let now = self.wheel.now();
        let u = &mut self.units[unit.index()];
        if u.waiting {
            u.waiting = false;
            let waited = now - u.since;
            self.record.span(TraceSpan { unit: unit.0, what: op.name(), start: u.since, end: now });
            if unit.index() < self.spes.len() {
                self.record.spe(unit.index()).wait_cycles += waited;
            }
        }
        if cycles == 0 {
            return Some(reply);
        }
        u.reply = Some(reply);
        self.wheel.push(now + cycles, WheelEvent::Act(unit));
        None
    }

    /// Something changed that `unit` may wait for.
    #[inline]
    fn wake(&mut self, unit: UnitId) {
        let u = &self.units[unit.index()];
        if u.waiting && !u.woken && u.op.as_ref().is_some_and(|op| self.may_go_on(unit, op)) {
            self.units[unit.index()].woken = true;
            self.wheel.push(self.wheel.now(), WheelEvent::Act(unit));
        }
    }

    /// Something of `spe` changed that PPEs may wait for.
    fn wake_ppes(&mut self) {
        for unit in self.spes.len()..self.units.len() {
            self.wake(UnitId::new(unit));
        }
    }

    #[inline]
    fn is_spe(&self, unit: UnitId) -> bool {
        unit.index() < self.spes.len()
    }

    #[inline]
    fn place(&self, ea: Address) -> Location {
        ea.place(self.spes.len(), self.p.chips, self.p.memory_bytes)
    }
}

/// What a unit's program and the engine share.
fn shared_with(races: &Rc<Races>, watch: &SimWatch) -> Rc<Shared> {
    Rc::new(Shared {
        cycle: Cell::new(0),
        store: LocalStore::new(),
        allocated: RefCell::default(),
        uses: Cell::new(0),
        races: races.clone(),
        raced: Cell::new(false),
        watch: watch.clone(),
    })
}
