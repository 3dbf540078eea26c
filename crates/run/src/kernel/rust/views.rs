//! Views of a port's instances, valid for one call of [`Kernel::fire`](super::Kernel::fire).
//!
//! A view is a slice and the length of an instance, so that what a kernel does with it is checked by the compiler and
//! by the slice's bounds. No two views overlap, apart from two views of one input, which nobody writes.

use super::data::{Data, items, items_mut};
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::slice::{ChunksExact, ChunksExactMut};

/// The instances of an input of fixed length, side by side: one per firing, then those that only windows see.
///
/// ```
/// # use run::{Batch, Failed, Fired};
/// fn mean(batch: &mut Batch) -> Result<Fired, Failed> {
///     let (input, mut output) = (batch.input::<f32>(0)?, batch.output::<f32>(1)?);
///     for j in 0..batch.firings() {
///         let window = input.window(j);
///         output[j][0] = window.iter().sum::<f32>() / window.len() as f32;
///     }
///     Ok(Fired::All)
/// }
/// ```
///
/// It has no `length`: only a port whose length varies has that.
/// ```compile_fail,E0599
/// # use run::{Batch, Failed};
/// fn length(batch: &mut Batch) -> Result<usize, Failed> {
///     Ok(batch.input::<u8>(0)?.length(0))
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Input<'a, T> {
    items: &'a [T],
    /// Items of one instance; at least 1.
    each: usize,
    /// Instances before those that only windows see.
    firings: usize,
    real: u64,
}

impl<'a, T: Data> Input<'a, T> {
    pub(super) fn new(items: &'a [T], each: usize, firings: u64, real: u64) -> Input<'a, T> {
        Input { items, each, firings: firings as usize, real }
    }

    /// Items of one instance.
    pub fn each(&self) -> usize {
        self.each
    }

    /// How many instances after its own a firing sees.
    pub fn peek(&self) -> u64 {
        (self.items.len() / self.each - self.firings) as u64
    }

    /// How many instances of firing `j`'s window the producer made; the rest, beyond the stream's end, are zeros.
    pub fn real(&self, j: u64) -> u64 {
        self.real.saturating_sub(j).min(self.peek() + 1)
    }

    /// The instance of firing `j`; the same as `input[j]`, for as long as the call.
    ///
    /// # Panics
    /// When `j` is beyond the last firing's window.
    #[inline]
    pub fn at(&self, j: u64) -> &'a [T] {
        &self.items[j as usize * self.each..][..self.each]
    }

    /// All that firing `j` sees: its own instance and the `peek` after it, side by side.
    ///
    /// # Panics
    /// When there is no firing `j`.
    #[inline]
    pub fn window(&self, j: u64) -> &'a [T] {
        &self.items[j as usize * self.each..][..(self.peek() as usize + 1) * self.each]
    }

    /// One instance per firing.
    #[inline]
    pub fn iter(&self) -> ChunksExact<'a, T> {
        self.together().chunks_exact(self.each)
    }

    /// The instances of all firings, side by side.
    #[inline]
    pub fn together(&self) -> &'a [T] {
        &self.items[..self.firings * self.each]
    }
}

impl<T: Data> Index<u64> for Input<'_, T> {
    type Output = [T];

    #[inline]
    fn index(&self, j: u64) -> &[T] {
        self.at(j)
    }
}

impl<'a, T: Data> IntoIterator for Input<'a, T> {
    type Item = &'a [T];
    type IntoIter = ChunksExact<'a, T>;

    #[inline]
    fn into_iter(self) -> ChunksExact<'a, T> {
        self.iter()
    }
}

/// Where the instances of an output of fixed length go, side by side, one per firing. Until it is written, an instance
/// holds what an earlier use of the memory left there.
///
/// Two instances can be written at once through [`iter_mut`](Self::iter_mut), but not by number:
/// ```compile_fail,E0499
/// # use run::{Batch, Failed, Fired};
/// fn alias(batch: &mut Batch) -> Result<Fired, Failed> {
///     let mut output = batch.output::<f32>(0)?;
///     let (a, b) = (&mut output[0], &mut output[0]);
///     (a[0], b[0]) = (1.0, 2.0);
///     Ok(Fired::All)
/// }
/// ```
/// It has no length to set: only a port whose length varies has that.
/// ```compile_fail,E0599
/// # use run::{Batch, Failed, Fired};
/// fn shorten(batch: &mut Batch) -> Result<Fired, Failed> {
///     batch.output::<u8>(0)?.set_length(0, 8);
///     Ok(Fired::All)
/// }
/// ```
#[derive(Debug)]
pub struct Output<'a, T> {
    items: &'a mut [T],
    /// Items of one instance; at least 1.
    each: usize,
}

impl<'a, T: Data> Output<'a, T> {
    pub(super) fn new(items: &'a mut [T], each: usize) -> Output<'a, T> {
        Output { items, each }
    }

    /// Items of one instance.
    pub fn each(&self) -> usize {
        self.each
    }

    /// One instance per firing, in turn.
    #[inline]
    pub fn iter_mut(&mut self) -> ChunksExactMut<'_, T> {
        self.items.chunks_exact_mut(self.each)
    }

    /// The instances of all firings, side by side.
    #[inline]
    pub fn together(&mut self) -> &mut [T] {
        self.items
    }
}

impl<T: Data> Index<u64> for Output<'_, T> {
    type Output = [T];

    #[inline]
    fn index(&self, j: u64) -> &[T] {
        &self.items[j as usize * self.each..][..self.each]
    }
}

impl<T: Data> IndexMut<u64> for Output<'_, T> {
    #[inline]
    fn index_mut(&mut self, j: u64) -> &mut [T] {
        &mut self.items[j as usize * self.each..][..self.each]
    }
}

impl<'a, T: Data> IntoIterator for Output<'a, T> {
    type Item = &'a mut [T];
    type IntoIter = ChunksExactMut<'a, T>;

    #[inline]
    fn into_iter(self) -> ChunksExactMut<'a, T> {
        self.items.chunks_exact_mut(self.each)
    }
}

/// An input and the output of the same number as one memory: an instance holds the input until it is overwritten. The
/// views of the two ports are refused while the kernel says that it works in place, so that nothing else sees them.
///
/// It is all that [`Output`] is.
#[derive(Debug)]
pub struct InPlace<'a, T>(pub(super) Output<'a, T>);

impl<'a, T> Deref for InPlace<'a, T> {
    type Target = Output<'a, T>;

    fn deref(&self) -> &Output<'a, T> {
        &self.0
    }
}

impl<T> DerefMut for InPlace<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Bytes of the length that stands before an instance of variable length.
pub(super) const LENGTH_BYTES: usize = size_of::<u64>();

/// How instances of variable length lie: each with its length in the 8 bytes before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spacing {
    /// Bytes from one length to the next.
    pub stride: usize,
    /// Bytes of an instance at most.
    pub max: usize,
}

impl Spacing {
    /// Bytes from the first length to the end of the last of `count` instances.
    pub(super) fn total(&self, count: u64) -> usize {
        (count as usize - 1) * self.stride + LENGTH_BYTES + self.max
    }
}

/// The instances of an input of variable length: `input[j]` is as long as the producer said.
#[derive(Debug, Clone, Copy)]
pub struct VariableInput<'a, T> {
    bytes: &'a [u8],
    spacing: Spacing,
    real: u64,
    peek: u64,
    items: std::marker::PhantomData<T>,
}

impl<'a, T: Data> VariableInput<'a, T> {
    pub(super) fn new(bytes: &'a [u8], spacing: Spacing, real: u64, peek: u64) -> VariableInput<'a, T> {
        VariableInput { bytes, spacing, real, peek, items: std::marker::PhantomData }
    }

    /// How many instances after its own a firing sees.
    pub fn peek(&self) -> u64 {
        self.peek
    }

    /// How many instances of firing `j`'s window the producer made; the rest, beyond the stream's end, are empty.
    pub fn real(&self, j: u64) -> u64 {
        self.real.saturating_sub(j).min(self.peek + 1)
    }

    /// Items of the instance of firing `j`: what of it is whole, at most what the port holds.
    pub fn length(&self, j: u64) -> usize {
        self.at(j).len()
    }

    /// The instance of firing `j`, `length(j)` items of it; from the last firing on, what only windows see.
    ///
    /// # Panics
    /// When `j` is beyond the last firing's window.
    pub fn at(&self, j: u64) -> &'a [T] {
        let (length, instance) = self.bytes[j as usize * self.spacing.stride..]
            [..LENGTH_BYTES + self.spacing.max]
            .split_first_chunk::<LENGTH_BYTES>()
            .expect("an instance has its length before it");
        let length = usize::try_from(u64::from_ne_bytes(*length)).unwrap_or(usize::MAX).min(self.spacing.max);
        let whole = length / size_of::<T>() * size_of::<T>();
        items(&instance[..whole]).expect("the view is aligned")
    }
}

impl<T: Data> Index<u64> for VariableInput<'_, T> {
    type Output = [T];

    fn index(&self, j: u64) -> &[T] {
        self.at(j)
    }
}

/// Where the instances of an output of variable length go. Every firing must give its instance a length.
#[derive(Debug)]
pub struct VariableOutput<'a, T> {
    bytes: &'a mut [u8],
    spacing: Spacing,
    items: std::marker::PhantomData<T>,
}

impl<'a, T: Data> VariableOutput<'a, T> {
    pub(super) fn new(bytes: &'a mut [u8], spacing: Spacing) -> VariableOutput<'a, T> {
        VariableOutput { bytes, spacing, items: std::marker::PhantomData }
    }

    /// Items of an instance at most.
    pub fn max(&self) -> usize {
        self.spacing.max / size_of::<T>()
    }

    /// Says that firing `j` wrote `length` items.
    ///
    /// # Panics
    /// When that is more than [`max`](Self::max), or there is no firing `j`.
    pub fn set_length(&mut self, j: u64, length: usize) {
        assert!(length <= self.max(), "a length of {length} items; the port holds {} at most", self.max());
        let bytes = (length * size_of::<T>()) as u64;
        self.bytes[j as usize * self.spacing.stride..][..LENGTH_BYTES].copy_from_slice(&bytes.to_ne_bytes());
    }

    /// Makes `items` the instance of firing `j`, and sets its length.
    ///
    /// # Panics
    /// As [`set_length`](Self::set_length).
    pub fn set(&mut self, j: u64, items: &[T]) {
        self.set_length(j, items.len());
        self[j][..items.len()].copy_from_slice(items);
    }

    fn range(&self, j: u64) -> std::ops::Range<usize> {
        let start = j as usize * self.spacing.stride + LENGTH_BYTES;
        start..start + self.max() * size_of::<T>()
    }
}

/// All the room of an instance, whatever its length is.
impl<T: Data> Index<u64> for VariableOutput<'_, T> {
    type Output = [T];

    fn index(&self, j: u64) -> &[T] {
        items(&self.bytes[self.range(j)]).expect("the view is aligned")
    }
}

impl<T: Data> IndexMut<u64> for VariableOutput<'_, T> {
    fn index_mut(&mut self, j: u64) -> &mut [T] {
        let range = self.range(j);
        items_mut(&mut self.bytes[range]).expect("the view is aligned")
    }
}
