//! Puts the programs on the machine, runs it on a thread of its own, and watches.

use crate::memory::{StreamCore, StreamPlaces};
use crate::outcome::outcome;
use crate::slots::{between, deepened};
use crate::steps::Steps;
use crate::stream::{ElementState, StreamSeen, StreamState};
use crate::{StreamCosts, StreamError, ppe, spe};
use ground::Draws;
use machine::Machine;
use run::scheduler::CounterIds;
use run::{
    ByHand, FetchLayout, HandSeed, Kernels, LayoutError, RUN, RunError, RunLayout, RunOptions, RunOutcome,
    RunProgress, STEADY_MOST, UntilSteady,
};
use sim::trace::Trace;
use sim::{Parameters, SimError, Simulation};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use work::{Graph, Plan, TaskId};

/// How often the caller is told how far the run is.
const LOOK: Duration = Duration::from_millis(200);
/// Host memory for buffers beside the simulated ones.
const MEMORY_BYTES: u64 = 4 << 30;

/// Whether `machine` is one that is simulated: a preset of the Cell, or a part of one.
pub fn is_simulated(machine: &Machine) -> bool {
    let cores = |e: &machine::Element| e.os_cpu.is_none() && (e.kind == "spe" || e.kind == "ppe");
    sim::target::NAMES.contains(&machine.name.as_str()) && machine.elements.iter().all(cores)
}

/// Runs `graph` as `plan` says on the simulated `machine`, until every task has fired as often as it will. Times of
/// the outcome are simulated.
///
/// Kernels run for real; computing takes the time that the tasks' costs say. Two runs are equal to the bit.
///
/// # Errors
/// [`StreamError`].
pub fn run(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    kernels: &dyn Kernels,
    costs: StreamCosts,
    options: &mut RunOptions<'_>,
) -> Result<RunOutcome, StreamError> {
    options.fit(plan).map_err(RunError::from)?;
    let parameters = Parameters::named(&machine.name).ok_or_else(|| {
        StreamError::Machine(format!("{} is no machine that can be simulated", machine.name))
    })?;
    run_on(parameters, graph, machine, plan, kernels, costs, options)
}

/// As [`run`](run()), on a machine with these parameters.
///
/// # Errors
/// [`StreamError`].
pub fn run_on(
    parameters: Parameters,
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    kernels: &dyn Kernels,
    costs: StreamCosts,
    options: &mut RunOptions<'_>,
) -> Result<RunOutcome, StreamError> {
    let layout = RunLayout::new(graph, machine, plan).map_err(RunError::from)?;
    let has_source = layout.units.iter().any(|u| u.source);
    let instances = options.instances.or(options.until_steady.then_some(STEADY_MOST));
    if !has_source && instances.is_none() {
        let why = "every task of the application has inputs: without a source, say how many instances to run";
        return Err(RunError::from(LayoutError(why.into())).into());
    }
    // A put by the SPE takes its queue alone; one by its proxy queue would take six of its registers.
    let is_ppe = |used: usize| machine.elements[layout.elements[used].element].kind == "ppe";
    let kinds: Vec<bool> = (0..layout.elements.len()).map(is_ppe).collect();
    let pushes = |from: usize, to: usize| !kinds[from] && kinds[to];
    let planned = FetchLayout::new(graph, plan, layout.clone(), &pushes).map_err(RunError::from)?;
    let deeper = if costs.spare_slots { deepened(graph, machine, plan, &planned) } else { plan.clone() };
    let made = FetchLayout::new(graph, &deeper, layout, &pushes).map_err(RunError::from)?;
    let slots = (between(plan, &made), between(&deeper, &made));
    let names: Vec<String> =
        made.layout.elements[..made.layout.elements.len() / 2].iter().map(|e| e.name.clone()).collect();
    let occupied_ps = names.iter().map(|_| AtomicU64::new(0)).collect();
    let seen = Arc::new(StreamSeen { occupied_ps, ..StreamSeen::default() });
    let hand = HandSeed::new(graph, made.layout.clone(), kernels, MEMORY_BYTES)?;
    let mut watch = hand.watch();
    let job = StreamJob {
        graph: graph.clone(),
        machine: machine.clone(),
        plan: plan.clone(),
        made,
        parameters,
        costs,
        stop: options.stop.clone(),
        instances,
        until_steady: options.until_steady,
        seen: seen.clone(),
        trace: options.trace.clone(),
    };
    let (tell, told) = mpsc::channel();
    // It owns what it works with: when a kernel does not return, it is left behind.
    let thread = std::thread::Builder::new().name("simulation".into()).spawn(move || {
        let _ = tell.send(simulate(job, hand));
    });
    thread.map_err(|why| RunError::System(format!("no thread for the simulation: {why}")))?;
    let mut shown = (0, 0);
    let mut busy_ps = vec![0; names.len()];
    loop {
        match told.recv_timeout(LOOK) {
            Ok(outcome) => {
                return outcome.map(|mut outcome| {
                    outcome.warnings.extend_from_slice(watch.warnings());
                    if let Some(simulated) = &mut outcome.simulated {
                        simulated["slots"]["planned"] = slots.0.into();
                        simulated["slots"]["taken"] = slots.1.into();
                    }
                    outcome
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(StreamError::Machine("the simulation panicked".into()));
            }
        }
        watch.look(options.watchdog_s, options.stop.load(Ordering::Acquire))?;
        let Some(progress) = options.progress.as_mut() else { continue };
        let now = (seen.instances.load(Ordering::Relaxed), seen.now_ps.load(Ordering::Relaxed));
        let passed_ps = now.1.saturating_sub(shown.1).max(1) as f64;
        let busy = names.iter().zip(&seen.occupied_ps).zip(&mut busy_ps).map(|((name, occupied), before)| {
            let occupied = occupied.load(Ordering::Relaxed);
            let passed = occupied - std::mem::replace(before, occupied);
            (name.clone(), (passed as f64 / passed_ps).min(1.0))
        });
        progress(&RunProgress {
            instances: now.0,
            total: instances,
            elapsed_s: now.1 as f64 / 1e12,
            throughput_per_s: now.0.saturating_sub(shown.0) as f64 * 1e12 / passed_ps,
            predicted_per_s: plan.throughput_per_s,
            busy: busy.collect(),
            is_simulated: true,
            warning: watch.warnings().last().cloned(),
        });
        shown = now;
    }
}

/// What the thread of the simulation is given.
struct StreamJob {
    graph: Graph,
    machine: Machine,
    plan: Plan,
    made: FetchLayout,
    parameters: Parameters,
    costs: StreamCosts,
    stop: Arc<AtomicU32>,
    instances: Option<u64>,
    until_steady: bool,
    seen: Arc<StreamSeen>,
    trace: Option<PathBuf>,
}

fn simulate(job: StreamJob, hand: HandSeed) -> Result<RunOutcome, StreamError> {
    let StreamJob {
        graph,
        machine,
        plan,
        made,
        parameters,
        costs,
        stop,
        instances,
        until_steady,
        seen,
        trace,
    } = job;
    let mut cell = Simulation::new(parameters).map_err(refused)?;
    // A protocol that let a program use bytes that a transfer moves would be wrong whatever it prints.
    cell.detect_races(cfg!(debug_assertions));
    cell.trace(trace.is_some());
    let stream = prepare(&graph, &machine, made, hand, costs, &mut cell)?;
    {
        let mut s = stream.borrow_mut();
        (s.instances, s.stop, s.seen) = (instances.unwrap_or(u64::MAX), stop, seen);
        s.until = until_steady.then(|| UntilSteady::new(s.sinks.iter().flatten().count()));
        s.steps = trace.is_some().then(|| Steps::new(s.elements.len()));
    }
    start(&mut cell, &stream).map_err(refused)?;
    let ended = cell.run();
    let mut s = stream.borrow_mut();
    let finished = s.kernels.finish();
    if let Some(failure) = s.failure.take() {
        return Err(failure);
    }
    let simulated = ended.map_err(|error| StreamError::Simulated { doing: doing(&s), error })?;
    finished?;
    let mut outcome = outcome(&s, &machine, &plan, &simulated, cell.parameters());
    outcome.stopped = s.stop.load(Ordering::Acquire) != RUN;
    if let Some((path, mut trace)) = trace.zip(simulated.trace) {
        if let Some(steps) = s.steps.take() {
            let names: Vec<&str> = s.made.layout.elements.iter().map(|e| e.name.as_str()).collect();
            steps.add_to(&mut trace, &names);
        }
        let written = File::create(&path).and_then(|file| write(&trace, file));
        match written {
            Ok(()) => outcome.trace = Some(path.display().to_string()),
            Err(why) => {
                outcome.warnings.push(format!("{}: the trace could not be written: {why}", path.display()))
            }
        }
    }
    Ok(outcome)
}

fn write(trace: &Trace, file: File) -> std::io::Result<()> {
    let mut out = BufWriter::new(file);
    trace.write_chrome(&mut out)?;
    out.flush()
}

fn refused(error: SimError) -> StreamError {
    StreamError::Simulated { doing: String::new(), error }
}

/// What the elements were moving when it ended.
fn doing(s: &StreamState) -> String {
    let moving = s.elements.iter().zip(&s.made.layout.elements).filter_map(|(e, used)| {
        let edge = &s.graph.edges[s.made.fetches[e.doing?].edge];
        let (from, to) = (&s.graph.tasks[edge.from.task].name, &s.graph.tasks[edge.to.task].name);
        Some(format!("{} fetched {from}.{} -> {to}.{}: ", used.name, edge.from.name, edge.to.name))
    });
    moving.collect()
}

fn prepare(
    graph: &Graph,
    machine: &Machine,
    made: FetchLayout,
    hand: HandSeed,
    costs: StreamCosts,
    cell: &mut Simulation,
) -> Result<Rc<RefCell<StreamState>>, StreamError> {
    let ids = CounterIds::new(&made.layout);
    let initial = ids.initial(&made.layout);
    let (hand, schedulers) = ByHand::new(hand)?;
    let strides: Vec<u64> = (0..made.layout.rings.len()).map(|r| hand.stride(r)).collect();
    let mut places = StreamPlaces::new(graph, machine, &made, &schedulers, &strides)?;
    places.take(cell).map_err(refused)?;
    let elements = places.units.len();
    let mut cost_ns = vec![0.0; graph.tasks.len()];
    for unit in &made.layout.units[..] {
        let element = &machine.elements[made.layout.elements[unit.element].element];
        for &t in &unit.tasks {
            cost_ns[t] = graph.tasks[t].cost_on(&element.kind).unwrap_or(0.0);
        }
    }
    let mut compute = schedulers;
    let fetch = compute.split_off(elements);
    let both = compute.into_iter().zip(fetch).enumerate();
    let states = both.map(|(e, (compute, fetch))| {
        ElementState::new(e, compute, fetch, &initial, &places, made.fetches.len())
    });
    let elements = states.collect();
    let zeros_from = vec![u64::MAX; made.fetches.len()];
    let mut sinks = 0..;
    let is_sink = |t: &TaskId| graph.edges.iter().all(|edge| edge.from.task != *t);
    let sinks = made.layout.units.iter().map(|unit| unit.tasks.iter().any(is_sink).then(|| sinks.next())?);
    let sinks = sinks.collect();
    Ok(Rc::new(RefCell::new(StreamState {
        graph: graph.clone(),
        made,
        ids,
        kernels: hand,
        places,
        costs,
        elements,
        instances: u64::MAX,
        failure: None,
        stop: Arc::default(),
        until: None,
        is_steady: false,
        seen: Arc::default(),
        cost_ns,
        draws: costs.drawn_from.map(Draws::new),
        zeros_from,
        sinks,
        steps: None,
    })))
}

fn start(cell: &mut Simulation, stream: &Rc<RefCell<StreamState>>) -> Result<(), SimError> {
    let units = stream.borrow().places.units.clone();
    for (element, unit) in units.into_iter().enumerate() {
        let name = stream.borrow().made.layout.elements[element].units.len();
        let name = format!("{name} units");
        let (own, beside) = (stream.clone(), stream.clone());
        match unit {
            StreamCore::Spe(number) => cell.spe(number, name, move |s| spe::program(s, &own, element))?,
            StreamCore::Ppe(number) => {
                cell.ppe(number, name, move |p| ppe::compute(p, &own, element))?;
                cell.ppe_beside(number, "management", move |p| ppe::manage(p, &beside, element))?;
            }
        }
    }
    Ok(())
}
