//! `cellweave._core`: converts and calls, no logic. `python/cellweave` is the front that people see.
//!
//! | module | what it converts |
//! |---|---|
//! | `error` | a wrong request, failed work |
//! | `machine`, `graph` | machines and applications; text and JSON |
//! | `options` | what Python gives as options, and what is known of each |
//! | `progress` | how far the work is; Ctrl-C |
//! | `place` | a pattern onto a machine: options in, the mapping and what stands beside it as JSON |
//! | `plan` | `plan` and `profile`: options in, the plan and the measurements out |
//! | `probe` | patterns of transfers, measured; a machine file |
//! | `exact` | a solver in Python, for the exact method |
//! | `kernels` | Python functions, compiled functions and arrays as the code of tasks |
//! | `reproduce` | lists and measurements of the published experiments, as JSON |
//! | `ring` | the ring of `ring-mapping` under many mappings |
//! | `run` | a plan, arrays in and out, the result as JSON |
//! | `sim` | a simulated machine, and Python generators as its programs |
//!
//! Floor 7. Long work is done without the interpreter's lock.

mod error;
mod exact;
mod graph;
mod kernels;
mod machine;
mod options;
mod place;
mod plan;
mod probe;
mod progress;
mod reproduce;
mod ring;
mod run;
mod sim;

use pyo3::prelude::*;

/// The native part of cellweave.
#[pymodule]
fn _core(py: Python<'_>, m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("RequestError", py.get_type::<error::RequestError>())?;
    m.add("RunError", py.get_type::<error::RunError>())?;
    m.add_class::<machine::Machine>()?;
    m.add_class::<graph::Graph>()?;
    m.add_class::<plan::Plan>()?;
    m.add_class::<options::Field>()?;
    m.add_function(wrap_pyfunction!(options::options, m)?)?;
    m.add_function(wrap_pyfunction!(options::verbs, m)?)?;
    m.add_function(wrap_pyfunction!(error::did_you_mean, m)?)?;
    m.add_function(wrap_pyfunction!(machine::presets, m)?)?;
    m.add_function(wrap_pyfunction!(graph::daggen, m)?)?;
    m.add_function(wrap_pyfunction!(graph::paper_set, m)?)?;
    m.add_function(wrap_pyfunction!(place::place, m)?)?;
    m.add_function(wrap_pyfunction!(place::traffic_names, m)?)?;
    m.add_function(wrap_pyfunction!(plan::plan, m)?)?;
    m.add_function(wrap_pyfunction!(plan::advise, m)?)?;
    m.add_function(wrap_pyfunction!(plan::profile, m)?)?;
    m.add_function(wrap_pyfunction!(probe::patterns, m)?)?;
    m.add_function(wrap_pyfunction!(probe::probe, m)?)?;
    m.add_function(wrap_pyfunction!(run::run, m)?)?;
    m.add_function(wrap_pyfunction!(run::spent_parts, m)?)?;
    m.add_function(wrap_pyfunction!(reproduce::read_toml, m)?)?;
    m.add_function(wrap_pyfunction!(reproduce::rule_sets, m)?)?;
    m.add_function(wrap_pyfunction!(reproduce::measure, m)?)?;
    m.add_function(wrap_pyfunction!(reproduce::program, m)?)?;
    m.add_class::<ring::Ranking>()?;
    m.add_function(wrap_pyfunction!(ring::ring, m)?)?;
    m.add_function(wrap_pyfunction!(ring::ring_mapping, m)?)?;
    m.add_function(wrap_pyfunction!(ring::ring_text, m)?)?;
    m.add_class::<sim::Simulation>()?;
    m.add_class::<sim::ProgramUnit>()?;
    m.add_class::<sim::Spe>()?;
    m.add_class::<sim::Ppe>()?;
    m.add_class::<sim::Operation>()?;
    m.add_class::<sim::Outcome>()?;
    m.add_function(wrap_pyfunction!(sim::sim_machines, m)?)?;
    m.add_function(wrap_pyfunction!(sim::sim_parameters, m)?)?;
    m.add_function(wrap_pyfunction!(sim::sim_rules, m)?)?;
    m.add_function(wrap_pyfunction!(sim::sim_local_store, m)?)?;
    Ok(())
}
