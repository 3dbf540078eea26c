//! Kernels that only move, make or drop instances.

use crate::kernel::{Batch, Connected, Failed, Fired, Input, Kernel, Opened, Output, PortSpec, TaskInfo};
use host::now_ns;
use std::hint::black_box;
use std::sync::OnceLock;

fn ports(names: &[&str]) -> Vec<PortSpec> {
    names.iter().map(|n| PortSpec::any(n)).collect()
}

fn source(make: impl FnOnce(&TaskInfo) -> Result<Box<dyn Kernel>, String> + Send + 'static) -> Opened {
    Opened::from_rust(vec![], ports(&["out"]), make)
}

/// Copies what fits of each instance: at once where they are of one size.
#[inline]
fn copy_instances(from: Input<u8>, mut to: Output<u8>) {
    if from.each() == to.each() {
        to.together().copy_from_slice(from.together());
        return;
    }
    let bytes = from.each().min(to.each());
    for (to, from) in to.into_iter().zip(from) {
        to[..bytes].copy_from_slice(&from[..bytes]);
    }
}

struct CopyKernel;

impl Kernel for CopyKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        copy_instances(batch.input(0)?, batch.output(0)?);
        Ok(Fired::All)
    }
}

fn same_bytes(info: &TaskInfo) -> Result<(), String> {
    info.only(&[])?;
    let (i, o) = (info.inputs[0].bytes, info.outputs[0].bytes);
    if i == o {
        Ok(())
    } else {
        Err(format!("copy gets {i} bytes per instance and gives {o}: they must be equal"))
    }
}

pub(super) fn copy() -> Opened {
    Opened::from_rust(ports(&["in"]), ports(&["out"]), |info| {
        same_bytes(info)?;
        Ok(Box::new(CopyKernel))
    })
}

/// Rounds of dependent arithmetic per ns, measured once: the fastest of some tries, so that stolen time does not count.
fn rounds_per_ns() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        const ROUNDS: u64 = 200_000;
        let mut best_ns = f64::INFINITY;
        for _ in 0..20 {
            let start_ns = now_ns();
            churn(ROUNDS);
            best_ns = best_ns.min((now_ns() - start_ns) as f64);
        }
        ROUNDS as f64 / best_ns.max(1.0)
    })
}

#[inline]
fn churn(rounds: u64) {
    let mut x = black_box(1u64);
    for _ in 0..rounds {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(x);
}

struct SpinKernel {
    rounds: u64,
}

impl Kernel for SpinKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        for _ in 0..batch.firings() {
            churn(self.rounds);
        }
        for o in 0..batch.outputs() {
            let output = batch.output(o)?;
            match batch.inputs() {
                0 => number(output, batch.first()),
                inputs => copy_instances(batch.input(o % inputs)?, output),
            }
        }
        Ok(Fired::All)
    }
}

pub(super) fn spin() -> Opened {
    Opened::from_rust(vec![PortSpec::any_number("in")], vec![PortSpec::any_number("out")], |info| {
        info.only(&["ns"])?;
        const NS_MAX: f64 = 1e12;
        let ns = info.number("ns")?.unwrap_or(0.0);
        if !(0.0..=NS_MAX).contains(&ns) {
            return Err(format!("the parameter 'ns' is {ns}; it must be from 0 to {NS_MAX:e}"));
        }
        Ok(Box::new(SpinKernel { rounds: (ns * rounds_per_ns()).round() as u64 }))
    })
}

struct ZerosKernel;

impl Kernel for ZerosKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        batch.output::<u8>(0)?.together().fill(0);
        Ok(Fired::All)
    }
}

pub(super) fn zeros() -> Opened {
    source(|info| {
        info.only(&[])?;
        Ok(Box::new(ZerosKernel))
    })
}

/// Writes each instance's number, then zeros.
fn number(output: Output<u8>, first: u64) {
    for (out, number) in output.into_iter().zip(first..) {
        let bytes = number.to_le_bytes();
        let n = out.len().min(bytes.len());
        out[..n].copy_from_slice(&bytes[..n]);
        out[n..].fill(0);
    }
}

struct CountKernel;

impl Kernel for CountKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        number(batch.output(0)?, batch.first());
        Ok(Fired::All)
    }
}

pub(super) fn count() -> Opened {
    source(|info| {
        info.only(&[])?;
        Ok(Box::new(CountKernel))
    })
}

struct DiscardKernel;

impl Kernel for DiscardKernel {
    fn fire(&mut self, _: &mut Batch) -> Result<Fired, Failed> {
        Ok(Fired::All)
    }
}

pub(super) fn discard() -> Opened {
    let inputs = vec![PortSpec { optional: false, ..PortSpec::any_number("in") }];
    Opened::from_rust(inputs, vec![], |info| {
        info.only(&[])?;
        Ok(Box::new(DiscardKernel))
    })
}

/// Cuts instances into parts.
struct SplitKernel;

impl Kernel for SplitKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let whole = batch.input::<u8>(0)?;
        let mut from = 0;
        for o in 0..batch.outputs() {
            let part = batch.output::<u8>(o)?;
            let to = from + part.each();
            part.into_iter().zip(whole).for_each(|(part, whole)| part.copy_from_slice(&whole[from..to]));
            from = to;
        }
        Ok(Fired::All)
    }
}

/// Puts parts together.
struct JoinKernel;

impl Kernel for JoinKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let mut whole = batch.output::<u8>(0)?;
        let mut from = 0;
        for i in 0..batch.inputs() {
            let part = batch.input::<u8>(i)?;
            let to = from + part.each();
            whole.iter_mut().zip(part).for_each(|(whole, part)| whole[from..to].copy_from_slice(part));
            from = to;
        }
        Ok(Fired::All)
    }
}

/// Refuses parts that do not make up the whole.
fn parts(whole: &Connected, parts: &[Connected], info: &TaskInfo) -> Result<(), String> {
    info.only(&[])?;
    let sum: u64 = parts.iter().map(|p| p.bytes).sum();
    if sum == whole.bytes {
        return Ok(());
    }
    let (whole_name, whole_bytes) = (&whole.name, whole.bytes);
    Err(format!(
        "'{whole_name}' has {whole_bytes} bytes per instance, its parts have {sum}: they must be equal"
    ))
}

pub(super) fn split() -> Opened {
    let many = vec![PortSpec { optional: false, ..PortSpec::any_number("out") }];
    Opened::from_rust(ports(&["in"]), many, |info| {
        parts(&info.inputs[0], &info.outputs, info)?;
        Ok(Box::new(SplitKernel))
    })
}

pub(super) fn join() -> Opened {
    let many = vec![PortSpec { optional: false, ..PortSpec::any_number("in") }];
    Opened::from_rust(many, ports(&["out"]), |info| {
        parts(&info.outputs[0], &info.inputs, info)?;
        Ok(Box::new(JoinKernel))
    })
}
