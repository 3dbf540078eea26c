//! `probe`: what to measure in as JSON, what was measured out as JSON and as other files have it.

use crate::error::{RunError, request};
use crate::plan::Watch;
use ::probe::patterns::PATTERNS;
use ::probe::targets::{Choices, load};
use ::probe::{Fitted, ProbeOptions, ProbeProgress, Probed, TargetError, fit, measure, ranges};
use cellweave::machine::target::Walk;
use pyo3::prelude::*;
use serde_json::Value;

/// The patterns that have names, each with a line about it.
#[pyfunction]
pub fn patterns() -> Vec<(&'static str, &'static str)> {
    PATTERNS.iter().map(|p| (p.name, p.about)).collect()
}

/// A machine file, and what it was fitted to.
type MachineFile = (String, Vec<String>);

/// Measures. Gives back the result as JSON and as CSV, and where it was asked for a machine file with what it was fitted
/// to. After Ctrl-C the result holds what was measured until then, and says so.
#[pyfunction]
#[pyo3(signature = (options, progress=None))]
pub fn probe(
    py: Python<'_>,
    options: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, Option<MachineFile>)> {
    let given: Value = serde_json::from_str(options).map_err(request)?;
    let asked = asked(&given).map_err(said)?;
    let choices = Choices {
        rules: given["rules"].as_str().map(Into::into),
        hidden: numbers(&given["hidden"]),
        parameters: parameters(&given["parameters"]),
    };
    let mut watch = Watch::new(progress);
    let measured = py.detach(|| -> Result<(Probed, Option<Fitted>), TargetError> {
        let mut target = load(given["on"].as_str().unwrap_or("host"), &choices)?;
        let probed = measure(target.as_mut(), &asked, &mut |p| tell(&mut watch, p))?;
        // What was stopped has not what a machine needs; its measurements are there all the same.
        let fitted =
            if asked.machine_file && !probed.stopped { Some(fit(target.machine(), &probed)?) } else { None };
        Ok((probed, fitted))
    });
    watch.end(py)?;
    let (probed, fitted) = measured.map_err(said)?;
    let file = match fitted {
        Some(Fitted { machine, notes }) => {
            Some((cellweave::machine::file::to_text(&machine).map_err(request)?, notes))
        }
        None => None,
    };
    Ok((probed.to_json().to_string(), probed.to_csv(), file))
}

fn tell(watch: &mut Watch, p: &ProbeProgress) -> bool {
    watch.tell(|state| {
        state.set_item("share", p.done as f64 / p.total.max(1) as f64)?;
        state.set_item("done", p.done)?;
        state.set_item("total", p.total)?;
        state.set_item("pattern", &p.job.pattern)?;
        state.set_item("size_bytes", p.job.experiment.size_bytes)?;
        state.set_item("buffers", p.job.experiment.buffers)
    })
}

/// A request from JSON; what is absent or null is the default.
fn asked(given: &Value) -> Result<ProbeOptions, TargetError> {
    let d = ProbeOptions::default();
    let all = |key: &str,
               values: &dyn Fn(&str) -> Result<Vec<u32>, TargetError>|
     -> Result<Vec<u32>, TargetError> {
        let texts = words(&given[key]);
        texts.iter().map(|text| values(text)).collect::<Result<Vec<_>, _>>().map(|all| all.concat())
    };
    let walk = match given["stride"].as_str() {
        Some(text) => Walk::Stride(ranges::size(text)?),
        None if given["cached"].as_bool().unwrap_or(false) => Walk::Cached,
        None => Walk::Next,
    };
    let small = |key: &str| given[key].as_u64().map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    Ok(ProbeOptions {
        patterns: words(&given["patterns"]),
        sizes: all("sizes", &ranges::sizes)?,
        buffers: all("buffers", &|text| ranges::counts("buffers", text))?,
        counts: all("spes", &|text| ranges::counts("spes", text))?.into_iter().map(|n| n as usize).collect(),
        seed: given["seed"].as_u64().unwrap_or(d.seed),
        draws: given["draws"].as_u64().map_or(d.draws, |n| n as usize),
        samples: small("samples"),
        repeats: small("repeats"),
        compute_ns: given["compute_ns"].as_u64().unwrap_or(d.compute_ns),
        walk,
        machine_file: given["machine_file"].as_bool().unwrap_or(false),
    })
}

fn words(list: &Value) -> Vec<String> {
    let each = list.as_array().map(Vec::as_slice).unwrap_or_default().iter();
    each.filter_map(|word| word.as_str().map(Into::into)).collect()
}

fn numbers(list: &Value) -> Option<Vec<usize>> {
    Some(list.as_array()?.iter().filter_map(|n| n.as_u64()).map(|n| n as usize).collect())
}

fn parameters(given: &Value) -> Vec<(String, u64)> {
    let pairs = given.as_object().into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
}

/// What went wrong, as Python raises it.
pub fn said(e: TargetError) -> PyErr {
    match e {
        TargetError::Request(_) => request(e),
        TargetError::Failed(_) => RunError::new_err(e.to_string()),
    }
}
