//! One call of a kernel: which views of the ABI's batch it may have.

use super::data::{Data, Dtype, items, items_mut};
use super::views::{InPlace, Input, LENGTH_BYTES, Output, Spacing, VariableInput, VariableOutput};
use super::{Failed, abi};
use crate::kernel::{Connected, PortSpec, TaskInfo, slice};
use std::any::type_name;

/// The view that a port gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewKind {
    /// `input`, `output`
    Fixed,
    /// `variable_input`, `variable_output`
    Variable,
    /// An input and the output of the same number, as one memory: `in_place`
    InPlace,
}

/// What decides which views of a port there are.
#[derive(Debug)]
struct ViewPort {
    /// `input 'in'`, as messages call it.
    name: String,
    dtype: Option<Dtype>,
    /// A bit per dtype in which it may be seen.
    seen_as: u32,
    view: ViewKind,
    /// The last call in which a kernel took the view that writes this port.
    taken: u64,
}

impl ViewPort {
    fn new(side: &str, specs: &[PortSpec], number: usize, connected: &Connected) -> ViewPort {
        // A repeated port is the last of its list and stands for all that follow.
        let spec = &specs[number.min(specs.len() - 1)];
        let dtype = Dtype::of_port(&spec.dtype);
        ViewPort {
            name: format!("{side} '{}'", connected.name),
            dtype,
            seen_as: dtype.map_or(u32::MAX, |dtype| 1 << Dtype::U8 as u32 | 1 << dtype as u32),
            view: if spec.variable { ViewKind::Variable } else { ViewKind::Fixed },
            taken: 0,
        }
    }

    #[cold]
    #[inline(never)]
    fn refuses(&self, why: &str) -> Failed {
        Failed::from(format!("its {} {why}", self.name))
    }

    /// Why it does not give such a view.
    #[cold]
    #[inline(never)]
    fn refuses_view(&self, asked: Dtype, view: ViewKind) -> Failed {
        if let Some(dtype) = self.dtype.filter(|_| self.seen_as >> asked as u32 & 1 == 0) {
            return self.refuses(&format!("holds {dtype}, and was asked for as {asked}"));
        }
        self.refuses(match (self.view, view) {
            (ViewKind::Fixed, ViewKind::InPlace) => {
                "has a memory of its own: to be worked in place, an input must be marked IN_PLACE and have an output \
                 of its number and size"
            }
            (ViewKind::Fixed, _) => "has a fixed length: take it with input or output",
            (ViewKind::Variable, _) => "has a variable length: take it with variable_input or variable_output",
            (ViewKind::InPlace, _) => "is worked in place: take the input and its output together with in_place",
        })
    }

    #[cold]
    #[inline(never)]
    fn misfit(&self, bytes: u64, item: &str) -> Failed {
        self.refuses(&format!("has instances of {bytes} bytes, which are no whole, aligned number of {item}"))
    }

    /// Whether it gives that view of `T`s.
    #[inline]
    fn gives<T: Data>(&self, view: ViewKind) -> Result<(), Failed> {
        match self.view == view && self.seen_as >> T::DTYPE as u32 & 1 == 1 {
            true => Ok(()),
            false => Err(self.refuses_view(T::DTYPE, view)),
        }
    }

    /// Items of an instance of `bytes` bytes.
    #[inline]
    fn each<T: Data>(&self, bytes: u64) -> Result<usize, Failed> {
        match bytes as usize / size_of::<T>() {
            each if each > 0 && each * size_of::<T>() == bytes as usize => Ok(each),
            _ => Err(self.misfit(bytes, type_name::<T>())),
        }
    }

    /// Takes the one view that writes this port in the call number `call`.
    #[inline]
    fn take(&mut self, call: u64) -> Result<(), Failed> {
        match std::mem::replace(&mut self.taken, call) == call {
            true => Err(self.refuses("was already taken in this call")),
            false => Ok(()),
        }
    }
}

/// The ports of one task, as connected.
#[derive(Debug)]
pub(super) struct TaskPorts {
    inputs: Box<[ViewPort]>,
    outputs: Box<[ViewPort]>,
    calls: u64,
}

impl TaskPorts {
    pub(super) fn new(inputs: &[PortSpec], outputs: &[PortSpec], task: &TaskInfo) -> TaskPorts {
        let list = |side: &str, specs: &[PortSpec], ports: &[Connected]| -> Box<[ViewPort]> {
            ports.iter().enumerate().map(|(n, port)| ViewPort::new(side, specs, n, port)).collect()
        };
        let mut ports = TaskPorts {
            inputs: list("input", inputs, &task.inputs),
            outputs: list("output", outputs, &task.outputs),
            calls: 0,
        };
        for (n, (input, output)) in ports.inputs.iter_mut().zip(&mut ports.outputs).enumerate() {
            let (from, to) = (&task.inputs[n], &task.outputs[n]);
            let asked = inputs[n.min(inputs.len() - 1)].in_place;
            let alike = from.bytes > 0 && from.bytes == to.bytes;
            if asked && alike && input.view == ViewKind::Fixed && output.view == ViewKind::Fixed {
                (input.view, output.view) = (ViewKind::InPlace, ViewKind::InPlace);
            }
        }
        ports
    }
}

/// One call of [`Kernel::fire`](super::Kernel::fire): gives views of the ports, each by its number.
///
/// A view of an output, and one in place, is given once per call; views of an input as often as asked for. A view that
/// the port does not have is an error that names the port: another dtype, a variable length where it is fixed, a port
/// that is not connected.
///
/// A view ends with the call:
/// ```compile_fail,E0521
/// use run::{Batch, Failed, Fired, Input, Kernel};
/// struct Keep(Option<Input<'static, u8>>);
/// impl Kernel for Keep {
///     fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
///         self.0 = Some(batch.input(0)?);
///         Ok(Fired::All)
///     }
/// }
/// ```
/// Its items are numbers:
/// ```compile_fail,E0277
/// # use run::{Batch, Failed, Fired};
/// fn references(batch: &mut Batch) -> Result<Fired, Failed> {
///     let input = batch.input::<&str>(0)?;
///     Ok(Fired::All)
/// }
/// ```
#[derive(Debug)]
pub struct Batch<'a> {
    firings: u64,
    first: u64,
    ins: &'a [abi::CwIn],
    outs: &'a [abi::CwOut],
    ports: &'a mut TaskPorts,
}

impl<'a> Batch<'a> {
    /// # Safety
    /// For `'a`, `raw` and the memory behind it must be what `cellweave.h` promises to `fire`, and no other batch be
    /// made of them; `ports` must be those that its task has.
    pub(super) unsafe fn new(raw: &'a abi::CwBatch, ports: &'a mut TaskPorts) -> Batch<'a> {
        ports.calls += 1;
        // SAFETY: the lists have the lengths that stand beside them.
        let (ins, outs) =
            unsafe { (slice(raw.r#in, raw.inputs as usize), slice(raw.out, raw.outputs as usize)) };
        Batch { firings: raw.firings, first: raw.first, ins, outs, ports }
    }

    /// How often to fire; at least 1.
    #[inline]
    pub fn firings(&self) -> u64 {
        self.firings
    }

    /// Instance number of firing 0, counted from 0 over the whole run.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Inputs as connected.
    pub fn inputs(&self) -> usize {
        self.ins.len()
    }

    /// Outputs as connected.
    pub fn outputs(&self) -> usize {
        self.outs.len()
    }

    /// Whether input `i`, an optional port, is connected.
    pub fn has_input(&self, i: usize) -> bool {
        !self.raw_input(i).base.is_null()
    }

    /// Whether output `o`, an optional port, is connected.
    pub fn has_output(&self, o: usize) -> bool {
        !self.raw_output(o).base.is_null()
    }

    /// Where the instances of input `i` are, for code that is called with addresses.
    ///
    /// # Panics
    /// When the task has no such input.
    #[inline]
    pub fn raw_input(&self, i: usize) -> abi::CwIn {
        self.ins[i]
    }

    /// Where the instances of output `o` go, for code that is called with addresses.
    ///
    /// # Panics
    /// When the task has no such output.
    #[inline]
    pub fn raw_output(&self, o: usize) -> abi::CwOut {
        self.outs[o]
    }

    /// Input `i`, if it is connected, holds `T`s and gives that view.
    #[inline]
    fn input_port<T: Data>(&self, i: usize, view: ViewKind) -> Result<(&ViewPort, abi::CwIn), Failed> {
        let (Some(port), Some(&at)) = (self.ports.inputs.get(i), self.ins.get(i)) else {
            return Err(no_port("input", i, self.inputs()));
        };
        if at.base.is_null() {
            return Err(port.refuses("is not connected"));
        }
        port.gives::<T>(view)?;
        Ok((port, at))
    }

    /// Output `o`, if it is connected, holds `T`s and gives that view; it is then taken for this call.
    #[inline]
    fn output_port<T: Data>(&mut self, o: usize, view: ViewKind) -> Result<(&ViewPort, abi::CwOut), Failed> {
        let call = self.ports.calls;
        let (Some(port), Some(&at)) = (self.ports.outputs.get_mut(o), self.outs.get(o)) else {
            return Err(no_port("output", o, self.outs.len()));
        };
        if at.base.is_null() {
            return Err(port.refuses("is not connected"));
        }
        port.gives::<T>(view)?;
        port.take(call)?;
        Ok((port, at))
    }

    /// The instances of input `i`.
    ///
    /// # Errors
    /// When there is no such input of fixed length that holds `T`s, or it is worked in place.
    #[inline]
    pub fn input<T: Data>(&self, i: usize) -> Result<Input<'a, T>, Failed> {
        let (port, at) = self.input_port::<T>(i, ViewKind::Fixed)?;
        let each = port.each::<T>(at.bytes)?;
        let bytes = ((self.firings + at.peek) * at.bytes) as usize;
        // SAFETY: instances of fixed length lie side by side, `firings + peek` of them, and nobody writes them during
        // the call: an input that shares its memory with an output is only seen by `in_place`.
        let bytes = unsafe { std::slice::from_raw_parts(at.base.cast::<u8>(), bytes) };
        let items = items(bytes).ok_or_else(|| port.misfit(at.bytes, type_name::<T>()))?;
        Ok(Input::new(items, each, self.firings, at.real))
    }

    /// Where the instances of output `o` go; once per call.
    ///
    /// # Errors
    /// When there is no such output of fixed length that holds `T`s, it was already taken, or is worked in place.
    #[inline]
    pub fn output<T: Data>(&mut self, o: usize) -> Result<Output<'a, T>, Failed> {
        let firings = self.firings;
        let (port, at) = self.output_port::<T>(o, ViewKind::Fixed)?;
        // SAFETY: as `fixed` says; the port was not taken before, and is not worked in place.
        unsafe { fixed(port, at, firings) }
    }

    /// Input `i` and output `i` as one memory, which holds the input; once per call. Where the runtime gave them memory
    /// of their own, the input is copied first.
    ///
    /// # Errors
    /// When the input does not say [`IN_PLACE`](abi::IN_PLACE), there is no output `i` of the same size, one of them
    /// varies in length or does not hold `T`s, or they were already taken.
    #[inline]
    pub fn in_place<T: Data>(&mut self, i: usize) -> Result<InPlace<'a, T>, Failed> {
        let firings = self.firings;
        let (_, from) = self.input_port::<T>(i, ViewKind::InPlace)?;
        let (port, to) = self.output_port::<T>(i, ViewKind::InPlace)?;
        if from.base != to.base.cast_const() {
            let bytes = (firings * to.bytes) as usize;
            // SAFETY: both have `firings` instances side by side, of one size, in memory that is apart when it does not
            // start at the same address; no view of either exists.
            unsafe { std::ptr::copy_nonoverlapping(from.base.cast::<u8>(), to.base.cast(), bytes) };
        }
        // SAFETY: as `fixed` says; no other view of the input or the output is ever given.
        unsafe { fixed(port, to, firings) }.map(InPlace)
    }

    /// The instances of input `i`, whose length varies.
    ///
    /// # Errors
    /// When there is no such input that holds `T`s, or its length is fixed.
    pub fn variable_input<T: Data>(&self, i: usize) -> Result<VariableInput<'a, T>, Failed> {
        let (port, at) = self.input_port::<T>(i, ViewKind::Variable)?;
        let spacing = spacing::<T>(port, at.base.cast(), at.stride, at.bytes)?;
        // SAFETY: an instance of variable length has its length in the 8 bytes before it, and there are
        // `firings + peek` of them, `stride` apart, that nobody writes during the call.
        let bytes = unsafe {
            let start = at.base.cast::<u8>().sub(LENGTH_BYTES);
            std::slice::from_raw_parts(start, spacing.total(self.firings + at.peek))
        };
        Ok(VariableInput::new(bytes, spacing, at.real, at.peek))
    }

    /// Where the instances of output `o`, whose length varies, go; once per call.
    ///
    /// # Errors
    /// When there is no such output that holds `T`s, its length is fixed, or it was already taken.
    pub fn variable_output<T: Data>(&mut self, o: usize) -> Result<VariableOutput<'a, T>, Failed> {
        let firings = self.firings;
        let (port, at) = self.output_port::<T>(o, ViewKind::Variable)?;
        let spacing = spacing::<T>(port, at.base.cast(), at.stride, at.bytes)?;
        // SAFETY: as in `variable_input`; the memory is the call's own, initialised when it was made, and the port was
        // not taken before.
        let bytes = unsafe {
            let start = at.base.cast::<u8>().sub(LENGTH_BYTES);
            std::slice::from_raw_parts_mut(start, spacing.total(firings))
        };
        Ok(VariableOutput::new(bytes, spacing))
    }
}

#[cold]
#[inline(never)]
fn no_port(side: &str, number: usize, count: usize) -> Failed {
    Failed::from(format!("its kernel asked for {side} {number}, and it has {count}, counted from 0"))
}

/// The view that writes an output of fixed length.
///
/// # Safety
/// `at` must be that output of this call, and no other view of its memory be given in `'a`.
#[inline]
unsafe fn fixed<'a, T: Data>(port: &ViewPort, at: abi::CwOut, firings: u64) -> Result<Output<'a, T>, Failed> {
    let each = port.each::<T>(at.bytes)?;
    // SAFETY: instances of fixed length lie side by side, `firings` of them; the memory is the call's own, and was
    // initialised when it was made.
    let bytes =
        unsafe { std::slice::from_raw_parts_mut(at.base.cast::<u8>(), (firings * at.bytes) as usize) };
    let items = items_mut(bytes).ok_or_else(|| port.misfit(at.bytes, type_name::<T>()))?;
    Ok(Output::new(items, each))
}

/// How the instances of a port of variable length lie, if they are aligned for `T`s.
fn spacing<T: Data>(port: &ViewPort, base: *const u8, stride: u64, bytes: u64) -> Result<Spacing, Failed> {
    match base.cast::<T>().is_aligned() && stride.is_multiple_of(align_of::<T>() as u64) {
        true => Ok(Spacing { stride: stride as usize, max: bytes as usize }),
        false => Err(port.misfit(bytes, type_name::<T>())),
    }
}
