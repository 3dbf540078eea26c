//! Kernels that only move, make or drop instances.

use crate::kernel::{Batch, Fired, Kernel, Opened, PortSpec, TaskInfo, abi};
use host::now_ns;
use std::hint::black_box;
use std::sync::OnceLock;

fn ports(names: &[&str]) -> Vec<PortSpec> {
    names.iter().map(|n| PortSpec::any(n)).collect()
}

fn source(make: impl FnOnce(&TaskInfo) -> Result<Box<dyn Kernel>, String> + Send + 'static) -> Opened {
    Opened::from_rust(vec![], ports(&["out"]), make)
}

/// Copies the first `bytes` bytes of `firings` instances; one call when they lie side by side.
///
/// # Safety
/// The views must be as the runtime gives them.
#[inline]
unsafe fn copy_instances(from: &abi::In, to: &abi::Out, firings: u64) {
    let (mut a, mut b) = (from.base.cast::<u8>(), to.base.cast::<u8>());
    // SAFETY: `firings` instances of `bytes` bytes each lie `stride` apart in both views, which never overlap: an output
    // is memory of its own unless the kernel works in place.
    unsafe {
        if from.stride == to.stride && from.bytes == from.stride {
            std::ptr::copy_nonoverlapping(a, b, (firings * from.bytes) as usize);
            return;
        }
        let bytes = from.bytes.min(to.bytes) as usize;
        for _ in 0..firings {
            std::ptr::copy_nonoverlapping(a, b, bytes);
            (a, b) = (a.add(from.stride as usize), b.add(to.stride as usize));
        }
    }
}

struct Copy;

impl Kernel for Copy {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        let (from, to) = (batch.place_in(0), batch.place_out(0));
        // SAFETY: views of this call.
        unsafe { copy_instances(from, to, batch.firings()) };
        batch.done()
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
        Ok(Box::new(Copy))
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

struct Spin {
    rounds: u64,
}

impl Kernel for Spin {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        for _ in 0..batch.firings() {
            churn(self.rounds);
        }
        for o in 0..batch.outputs() {
            let to = batch.place_out(o);
            if batch.inputs() == 0 {
                for j in 0..batch.firings() {
                    number(batch, o, j);
                }
            } else {
                let from = batch.place_in(o % batch.inputs());
                // SAFETY: views of this call.
                unsafe { copy_instances(from, to, batch.firings()) };
            }
        }
        batch.done()
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
        Ok(Box::new(Spin { rounds: (ns * rounds_per_ns()).round() as u64 }))
    })
}

struct Zeros;

impl Kernel for Zeros {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        for j in 0..batch.firings() {
            batch.output::<u8>(0, j).fill(0);
        }
        batch.done()
    }
}

pub(super) fn zeros() -> Opened {
    source(|info| {
        info.only(&[])?;
        Ok(Box::new(Zeros))
    })
}

/// Writes the instance's number, then zeros.
fn number(batch: &Batch, o: usize, j: u64) {
    let out = batch.output::<u8>(o, j);
    let bytes = (batch.first() + j).to_le_bytes();
    let n = out.len().min(8);
    out[..n].copy_from_slice(&bytes[..n]);
    out[n..].fill(0);
}

struct Count;

impl Kernel for Count {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        for j in 0..batch.firings() {
            number(batch, 0, j);
        }
        batch.done()
    }
}

pub(super) fn count() -> Opened {
    source(|info| {
        info.only(&[])?;
        Ok(Box::new(Count))
    })
}

struct Discard;

impl Kernel for Discard {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        batch.done()
    }
}

pub(super) fn discard() -> Opened {
    let inputs = vec![PortSpec { optional: false, ..PortSpec::any_number("in") }];
    Opened::from_rust(inputs, vec![], |info| {
        info.only(&[])?;
        Ok(Box::new(Discard))
    })
}

/// Cuts instances into equal parts, or puts them together.
struct Parts {
    split: bool,
}

impl Kernel for Parts {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        for j in 0..batch.firings() {
            if self.split {
                let mut rest = batch.input::<u8>(0, j);
                for o in 0..batch.outputs() {
                    let out = batch.output::<u8>(o, j);
                    let (part, tail) = rest.split_at(out.len());
                    out.copy_from_slice(part);
                    rest = tail;
                }
            } else {
                let mut rest = batch.output::<u8>(0, j);
                for i in 0..batch.inputs() {
                    let input = batch.input::<u8>(i, j);
                    let (part, tail) = std::mem::take(&mut rest).split_at_mut(input.len());
                    part.copy_from_slice(input);
                    rest = tail;
                }
            }
        }
        batch.done()
    }
}

fn parts(whole: &str, part: &str, info: &TaskInfo, split: bool) -> Result<Box<dyn Kernel>, String> {
    info.only(&[])?;
    let (one, many) = if split { (&info.inputs, &info.outputs) } else { (&info.outputs, &info.inputs) };
    let sum: u64 = many.iter().map(|p| p.bytes).sum();
    if sum != one[0].bytes {
        return Err(format!(
            "'{whole}' has {} bytes per instance, its {part} parts {sum}: they must be equal",
            one[0].bytes
        ));
    }
    Ok(Box::new(Parts { split }))
}

pub(super) fn split() -> Opened {
    let many = vec![PortSpec { optional: false, ..PortSpec::any_number("out") }];
    Opened::from_rust(ports(&["in"]), many, |info| parts("in", "out", info, true))
}

pub(super) fn join() -> Opened {
    let many = vec![PortSpec { optional: false, ..PortSpec::any_number("in") }];
    Opened::from_rust(many, ports(&["out"]), |info| parts("out", "in", info, false))
}
