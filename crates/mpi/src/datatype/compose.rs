//! A datatype made of others: what its bounds, its layout and its signature are (MPI 5.0, sections 5.1 and 5.1.6).

use super::Datatype;
use super::contents::Contents;
use super::layout::{self, LayoutNode, Placed};
use super::signature::{self, Signature};
use crate::abi::values::MPI_ERR_ARG;
use crate::check::Failure;
use crate::comm::attributes::Attributes;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// `count` blocks of `length` elements each, block `i` at `at + i * stride` bytes.
#[derive(Clone, Copy)]
pub(super) struct BlockPart<'a> {
    pub at: isize,
    pub count: usize,
    pub stride: isize,
    pub length: usize,
    pub datatype: &'a Datatype,
}

impl<'a> BlockPart<'a> {
    /// One block.
    pub(super) fn once(at: isize, length: usize, datatype: &'a Datatype) -> Self {
        Self { at, count: 1, stride: 0, length, datatype }
    }
}

/// The lowest and the highest bound so far, if there was any.
#[derive(Clone, Copy, Default)]
struct Range(Option<(i128, i128)>);

impl Range {
    fn cover(&mut self, low: i128, high: i128) {
        self.0 = Some(match self.0 {
            None => (low, high),
            Some((lowest, highest)) => (lowest.min(low), highest.max(high)),
        });
    }
}

/// A datatype of parts, in order.
///
/// Where no bound was set, the upper one is that of the part that reaches farthest, with the padding at its end,
/// rounded so that the next element is aligned. By the standard's definition, which goes from basic elements, padding
/// inside does not count; that differs only for parts that are not aligned, and programs rely on a datatype being no
/// shorter than its parts.
///
/// # Errors
/// `MPI_ERR_ARG`: its size or a bound doesn't fit in an `MPI_Count`.
pub(super) fn compose<'a>(
    parts: impl IntoIterator<Item = BlockPart<'a>>,
    contents: Contents,
) -> Result<Datatype, Failure> {
    let mut size = 0i128;
    let (mut data, mut natural, mut set) = (Range::default(), Range::default(), Range::default());
    let mut alignment = 1;
    let parts = parts.into_iter();
    let mut layout = layout::Sequence::of_about(parts.size_hint().0);
    let mut signature = signature::SignatureSequence::default();
    for part in parts {
        let BlockPart { at, count, stride, length, datatype } = part;
        if count == 0 || length == 0 {
            continue;
        }
        let (last, across) =
            ((count as i128 - 1) * stride as i128, (length as i128 - 1) * datatype.extent as i128);
        let low = at as i128 + last.min(0) + across.min(0);
        let high = at as i128 + last.max(0) + across.max(0);
        let lb = datatype.lb as i128;
        let bounds = (low + lb, high + lb + datatype.extent as i128);
        if datatype.bounded {
            set.cover(bounds.0, bounds.1);
        }
        if datatype.size == 0 {
            continue;
        }
        natural.cover(bounds.0, bounds.1);
        let lowest = datatype.true_lb as i128;
        data.cover(low + lowest, high + lowest + datatype.true_extent as i128);
        let elements = count as i128 * length as i128;
        size = elements
            .checked_mul(datatype.size as i128)
            .and_then(|bytes| size.checked_add(bytes))
            .ok_or_else(too_large)?;
        whole(size)?;
        alignment = alignment.max(datatype.alignment);
        layout.push(
            datatype.layout.clone().repeated(length, datatype.extent).repeated(count, stride).shifted(at),
        );
        signature.push(&datatype.signature, elements as usize);
    }
    let (true_lb, true_ub) = data.0.unwrap_or((0, 0));
    let (lb, ub) = set.0.unwrap_or_else(|| {
        let (lb, ub) = natural.0.unwrap_or((0, 0));
        let step = alignment as i128;
        (lb, lb + (ub - lb + step - 1).div_euclid(step) * step)
    });
    let bounds = Bounds { lb: whole(lb)?, ub: whole(ub)?, set: set.0.is_some() };
    whole(ub - lb)?;
    whole(true_ub - true_lb)?;
    let data = (whole(true_lb)?, whole(true_ub)?);
    Ok(make(bounds, data, alignment, signature.finish(), layout.finish(), contents))
}

/// Bounds, and whether they were set.
struct Bounds {
    lb: isize,
    ub: isize,
    set: bool,
}

fn make(
    bounds: Bounds,
    (true_lb, true_ub): (isize, isize),
    alignment: usize,
    signature: Signature,
    layout: Placed,
    contents: Contents,
) -> Datatype {
    let size = signature.totals().bytes;
    let extent = bounds.ub - bounds.lb;
    let contiguous = size == 0
        || layout.at == 0 && matches!(layout.node, LayoutNode::Block(bytes) if bytes as isize == extent);
    Datatype {
        size,
        lb: bounds.lb,
        extent,
        true_lb,
        true_extent: true_ub - true_lb,
        contiguous,
        committed: AtomicBool::new(false),
        predefined: None,
        bounded: bounds.set,
        alignment,
        signature,
        layout,
        contents: Arc::new(contents),
        name: Mutex::default(),
        attributes: Attributes::default(),
    }
}

/// The same data with other bounds (`MPI_Type_create_resized`).
///
/// # Errors
/// `MPI_ERR_ARG`: the upper bound doesn't fit in an `MPI_Count`.
pub(super) fn resize(
    old: &Datatype,
    lb: isize,
    extent: isize,
    contents: Contents,
) -> Result<Datatype, Failure> {
    let ub = lb.checked_add(extent).ok_or_else(too_large)?;
    let bounds = Bounds { lb, ub, set: true };
    let data = (old.true_lb, old.true_lb + old.true_extent);
    Ok(make(bounds, data, old.alignment, old.signature.clone(), old.layout.clone(), contents))
}

impl Datatype {
    /// The same datatype anew, made as `contents` say.
    pub(super) fn again(&self, contents: Arc<Contents>) -> Self {
        Self {
            committed: AtomicBool::new(self.is_committed()),
            predefined: None,
            signature: self.signature.clone(),
            layout: self.layout.clone(),
            contents,
            name: Mutex::default(),
            attributes: Attributes::default(),
            ..*self
        }
    }
}

fn whole(value: i128) -> Result<isize, Failure> {
    isize::try_from(value).map_err(|_| too_large())
}

#[cold]
fn too_large() -> Failure {
    Failure::new(MPI_ERR_ARG, "the datatype's size or bounds do not fit in 64 bits")
}
