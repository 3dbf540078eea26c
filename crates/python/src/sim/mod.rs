//! `Simulation`: a simulated Cell whose programs are Python generators; what a run leaves behind, as JSON.
//!
//! | module | what it converts |
//! |---|---|
//! | `argument` | arguments of calls, each kind with its range |
//! | `unit` | the calls of SPE and PPE programs into operations |
//! | `generator` | a Python generator into a program that is asked step by step |
//! | `guard` | programs that never yield |
//!
//! The interpreter's lock is kept: programs are Python, and take turns with the machine in one thread.

mod argument;
mod generator;
mod guard;
mod unit;

use crate::error::{RunError, request};
use crate::kernels::{raised_at, said};
use argument::Argument;
use cellweave::ground::did_you_mean;
use cellweave::sim::numbers::SpeId;
use cellweave::sim::sizes::CYCLE_PS;
use cellweave::sim::trace::Trace;
use cellweave::sim::{Address, Parameters, Rules, SimError};
use generator::{Failure, Generator};
use guard::{NeverYields, Notice};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
pub(crate) use unit::{Operation, Ppe, ProgramUnit, Spe};

/// The simulated machines, by name.
#[pyfunction]
pub(crate) fn sim_machines() -> Vec<&'static str> {
    let presets = cellweave::machine::list().into_iter();
    presets.map(|(name, _)| name).filter(|name| Parameters::named(name).is_some()).collect()
}

/// The parameters of a machine and their values.
#[pyfunction]
pub(crate) fn sim_parameters(machine: &str) -> PyResult<Vec<(&'static str, u64)>> {
    Ok(parameters(machine)?.numbers())
}

/// The rule sets of the data arbiter as JSON, the default first.
#[pyfunction]
pub(crate) fn sim_rules() -> String {
    let rules = |r: Rules| {
        json!({
            "name": r.name,
            "hold": format!("{:?}", r.hold),
            "half_way": format!("{:?}", r.half_way),
            "alone_from_hops": r.alone_from_hops,
            "order": format!("{:?}", r.order),
            "per_ring": r.per_ring,
            "start_interval": r.start_interval,
            "gap": r.gap,
            "margin": r.margin,
        })
    };
    Value::from_iter(Rules::all().into_iter().map(rules)).to_string()
}

/// Where the local store of an SPE starts, as an effective address.
#[pyfunction]
pub(crate) fn sim_local_store(#[pyo3(from_py_with = SpeId::given)] spe: usize) -> u64 {
    Address::local_store(spe).0
}

fn parameters(machine: &str) -> PyResult<Parameters> {
    Parameters::named(machine).ok_or_else(|| unknown("machine", machine, &sim_machines()))
}

fn unknown(what: &str, word: &str, known: &[&str]) -> PyErr {
    let near = did_you_mean(word, known.iter().copied());
    request(format!("no {what} `{word}`; known are {}{near}", known.join(", ")))
}

/// A simulation as a whole: all programs on it are [`Generator`]s.
struct Whole(cellweave::sim::Simulation);

// SAFETY: what keeps a simulation in its thread are its `Rc`s and its programs. All `Rc`s are inside of it: only the
// handles of closures would have others, and there are no closures. A `Generator` may go to any thread. So a simulation
// that nobody uses (the mutex around it says so) goes to another thread as a whole: the one where Python frees it.
unsafe impl Send for Whole {}

/// A simulated machine with programs on it.
#[pyclass(module = "cellweave._core")]
pub(crate) struct Simulation {
    machine: Mutex<Whole>,
    /// What a program raised.
    failure: Failure,
    told: Notice,
    /// Units with programs, and their generators.
    programs: Vec<(String, Py<PyAny>)>,
}

#[pymethods]
impl Simulation {
    /// A machine without programs: numbers by name in place of its own, `rules` and `hidden` likewise.
    #[staticmethod]
    #[pyo3(signature = (machine, rules=None, hidden=None, numbers=vec![]))]
    fn build(
        machine: &str,
        rules: Option<&str>,
        hidden: Option<Vec<usize>>,
        numbers: Vec<(String, u64)>,
    ) -> PyResult<Self> {
        let mut p = parameters(machine)?;
        if let Some(name) = rules {
            let all = Rules::all();
            let names: Vec<&str> = all.iter().map(|r| r.name.as_str()).collect();
            p.rules = Rules::named(name).ok_or_else(|| unknown("rule set", name, &names))?;
        }
        if let Some(hidden) = hidden {
            p.hidden = hidden;
        }
        for (name, value) in &numbers {
            p.set(name, *value).map_err(request)?;
        }
        let sim = cellweave::sim::Simulation::new(p).map_err(request)?;
        let machine = Mutex::new(Whole(sim));
        Ok(Self { machine, failure: Failure::default(), told: Notice::default(), programs: vec![] })
    }

    /// What the machine is like, as JSON: chips, and the chip, number on it and ramp of every SPE.
    fn to_json(&self) -> String {
        self.machine().0.parameters().to_json().to_string()
    }

    /// Takes main memory; its address.
    fn allocate(&mut self, chip: usize, bytes: u64, align: u64) -> PyResult<u64> {
        self.machine_mut().allocate(chip, bytes, align).map(|a| a.0).map_err(request)
    }

    /// A copy of main memory.
    fn read_memory<'py>(&self, py: Python<'py>, at: u64, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.check(at, bytes)?;
        Ok(PyBytes::new(py, self.machine().0.memory(Address(at), bytes as u64)))
    }

    /// Writes main memory.
    fn write_memory(&mut self, at: u64, data: PyBackedBytes) -> PyResult<()> {
        self.check(at, data.len())?;
        self.machine_mut().memory_mut(Address(at), data.len() as u64).copy_from_slice(&data);
        Ok(())
    }

    /// Says that the PPE has just written this memory.
    fn cache_in_ppe(&mut self, at: u64, bytes: usize) -> PyResult<()> {
        self.check(at, bytes)?;
        self.machine_mut().cache_in_ppe(Address(at), bytes as u64);
        Ok(())
    }

    /// Gives a unit a program: a generator that `unit` was made for.
    fn start(&mut self, unit: &ProgramUnit, name: &str, generator: Py<PyAny>) -> PyResult<()> {
        let of = unit.name().to_string();
        let body = Python::attach(|py| {
            Box::new(Generator::new(generator.clone_ref(py), unit, &self.failure, &self.told)) as Box<_>
        });
        let machine = self.machine_mut();
        let started = if unit.is_spe() {
            machine.spe_stepper(unit.number(), name, body)
        } else {
            machine.ppe_stepper(unit.number(), name, body)
        };
        started.map_err(request)?;
        self.programs.push((of, generator));
        Ok(())
    }

    /// Runs until every program is done.
    #[pyo3(signature = (trace, races, stop_after_cycles=None, watchdog_s=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        trace: bool,
        races: bool,
        stop_after_cycles: Option<u64>,
        watchdog_s: Option<f64>,
    ) -> PyResult<Outcome> {
        let told = self.told.clone();
        let sim = self.machine_mut();
        sim.trace(trace);
        sim.detect_races(races);
        if let Some(cycles) = stop_after_cycles {
            sim.stop_after(cycles);
        }
        let limit = watchdog_s.map(Duration::from_secs_f64);
        let watch = |limit| guard::watch(py, sim.watch(), limit, &told);
        let guard = limit.map(watch).transpose()?;
        let outcome = sim.run();
        // It may wait for the interpreter's lock.
        py.detach(|| drop(guard));
        let outcome = outcome.map_err(|e| self.raised(py, &e, watchdog_s));
        // Programs that are not over let go of what they hold, which may be this machine.
        for (_, generator) in self.programs.drain(..) {
            if let Err(e) = generator.call_method0(py, "close") {
                e.write_unraisable(py, Some(generator.bind(py)));
            }
        }
        let outcome = outcome?;
        let data = outcome.to_json(self.machine().0.parameters());
        Ok(Outcome { data: data.to_string(), trace: outcome.trace })
    }
}

impl Simulation {
    fn machine(&self) -> MutexGuard<'_, Whole> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn machine_mut(&mut self) -> &mut cellweave::sim::Simulation {
        &mut self.machine.get_mut().unwrap_or_else(PoisonError::into_inner).0
    }

    fn check(&self, at: u64, bytes: usize) -> PyResult<()> {
        let machine = self.machine();
        let p = machine.0.parameters();
        let all = p.memory_bytes * p.chips as u64;
        if at.checked_add(bytes as u64).is_none_or(|end| end > all) {
            return Err(request(format!("{bytes} bytes at {}: main memory has {all} bytes", Address(at))));
        }
        machine.0.check_allocated(Address(at), bytes as u64).map_err(request)
    }

    /// Where a unit's program stands.
    fn place(&self, py: Python<'_>, unit: &str) -> Option<String> {
        let (_, generator) = self.programs.iter().find(|(name, _)| name == unit)?;
        generator::place(generator.bind(py))
    }

    /// What ended a simulation, as Python hears it.
    fn raised(&self, py: Python<'_>, e: &SimError, watchdog_s: Option<f64>) -> PyErr {
        match (e, self.failure.take()) {
            (SimError::Panic { unit, program, cycle, .. }, Some(raised))
                if raised.is_instance_of::<NeverYields>(py) =>
            {
                let (at, seconds) = (time(*cycle), watchdog_s.unwrap_or_default());
                let place = raised_at(py, &raised).or_else(|| self.place(py, unit)).unwrap_or_default();
                RunError::new_err(format!(
                    "{unit} ({program}) at {at} never yields: it has run for {seconds} s of real time without \
                     `yield`{place}"
                ))
            }
            (_, Some(raised)) if !raised.is_instance_of::<PyException>(py) => raised,
            (SimError::Panic { unit, program, cycle, .. }, Some(raised)) => {
                let (at, text) = (time(*cycle), said(py, &raised));
                let error = RunError::new_err(format!("{unit} ({program}) at {at} raised {text}"));
                error.set_cause(py, Some(raised));
                error
            }
            (SimError::Trap { unit, .. } | SimError::Race { unit, .. }, _) => {
                RunError::new_err(format!("{e}{}", self.place(py, unit).unwrap_or_default()))
            }
            (SimError::Parameter { .. } | SimError::Request(_), _) => request(e),
            _ => RunError::new_err(e.to_string()),
        }
    }
}

/// What a simulation leaves behind.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Outcome {
    data: String,
    trace: Option<Trace>,
}

#[pymethods]
impl Outcome {
    /// Machine, time, digest, counters and loads.
    fn to_json(&self) -> &str {
        &self.data
    }

    /// Who did what when in Chrome's event format, if it was asked for.
    fn chrome_trace(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let Some(trace) = &self.trace else { return Ok(None) };
        let text = py.detach(|| {
            let mut out = Vec::new();
            trace.write_chrome(&mut out).map(|()| out)
        })?;
        Ok(Some(String::from_utf8(text)?))
    }
}

/// A simulated time in words.
fn time(cycle: u64) -> String {
    let ps = cycle * CYCLE_PS;
    format!("{}.{:03} us", ps / 1_000_000, ps / 1000 % 1000)
}
