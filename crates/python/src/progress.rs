//! Tells Python how far the work is, and hears of Ctrl-C.

use cellweave::VerbProgress;
use cellweave::plan::PlanProgress;
use cellweave::run::RunProgress;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// Seconds between two reports of a search.
const APART_S: f64 = 0.1;

/// The caller's progress function, and what came instead of its return.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    last_s: f64,
    /// Ctrl-C.
    interrupted: Option<PyErr>,
    /// What the caller's own function raised.
    raised: Option<PyErr>,
}

impl Watch {
    /// Nothing has happened yet.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch { progress, last_s: 0.0, interrupted: None, raised: None }
    }

    /// Whether to go on.
    pub(crate) fn verb(&mut self, progress: &VerbProgress) -> bool {
        match progress {
            VerbProgress::Profiling { what, share } => self.profiling(what, *share),
            VerbProgress::Planning(p) => {
                let due = p.seconds - self.last_s >= APART_S;
                if due {
                    self.last_s = p.seconds;
                }
                !due || self.tell(|state| planning(state, p))
            }
            VerbProgress::Running(p) => self.tell(|state| running(state, p)),
        }
    }

    /// Whether to go on.
    pub(crate) fn profiling(&mut self, what: &str, share: f64) -> bool {
        self.doing(&format!("measuring {what}"), share)
    }

    /// Whether to go on with work of which so much is done, 0 to 1.
    pub(crate) fn doing(&mut self, what: &str, share: f64) -> bool {
        self.tell(|state| {
            state.set_item("what", what)?;
            state.set_item("share", share)
        })
    }

    /// Calls the caller's function with a dict that `fill` fills. False after each Ctrl-C, and from an exception on.
    pub(crate) fn tell(&mut self, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> bool {
        if self.raised.is_some() {
            return false;
        }
        Python::attach(|py| {
            if let Err(e) = py.check_signals() {
                self.interrupted = Some(e);
                return false;
            }
            let Some(progress) = &self.progress else { return true };
            let state = PyDict::new(py);
            self.raised = fill(&state).and_then(|()| progress.call1(py, (state,)).map(drop)).err();
            self.raised.is_none()
        })
    }

    /// What the caller's function raised, and a Ctrl-C that has no handler of ours: an exception of a signal handler.
    /// Gives back whether there was a Ctrl-C.
    pub(crate) fn end(&mut self, py: Python<'_>) -> PyResult<bool> {
        if let Some(e) = self.raised.take() {
            return Err(e);
        }
        match self.interrupted.take() {
            Some(e) if !e.is_instance_of::<PyKeyboardInterrupt>(py) => Err(e),
            interrupted => Ok(interrupted.is_some()),
        }
    }
}

fn planning(state: &Bound<'_, PyDict>, p: &PlanProgress) -> PyResult<()> {
    state.set_item("method", p.method)?;
    state.set_item("moves", p.moves)?;
    state.set_item("moves_per_s", p.moves as f64 / p.seconds.max(1e-9))?;
    state.set_item("seconds", p.seconds)?;
    state.set_item("bound_ns", p.bound_ns)?;
    if let Some(gap) = p.gap() {
        state.set_item("period_ns", p.period_ns)?;
        state.set_item("gap", gap)?;
    }
    state.set_item("share", p.share)
}

fn running(state: &Bound<'_, PyDict>, p: &RunProgress) -> PyResult<()> {
    state.set_item("what", "running")?;
    state.set_item("instances", p.instances)?;
    state.set_item("total", p.total)?;
    state.set_item("elapsed_s", p.elapsed_s)?;
    state.set_item("is_simulated", p.is_simulated)?;
    state.set_item("per_s", p.throughput_per_s)?;
    state.set_item("predicted_per_s", p.predicted_per_s)?;
    state.set_item("busy", p.busy.iter().cloned().collect::<HashMap<_, _>>())?;
    state.set_item("warning", &p.warning)?;
    state.set_item("share", p.share())
}
