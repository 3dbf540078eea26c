//! Datatypes: how data lies in memory (MPI 5.0, chapter 5).
//!
//! | module | what it does |
//! |---|---|
//! | `message_data` | what a program passes as data: buffer, count, datatype |
//! | `elements` | the same, checked |
//! | `basic` | the predefined datatypes: what an element is |
//! | `signature` | which basic elements follow each other |
//! | `layout` | where their bytes lie: loops and lists over blocks |
//! | `copy` | what a walk through the blocks does: pack, unpack, list |
//! | `compose` | a datatype made of others: bounds, layout, signature |
//! | `construct` | the constructors as compositions |
//! | `array` | parts of arrays of several dimensions |
//! | `external32` | the representation that other machines read |
//! | `contents` | how a datatype was made |
//! | `predefined` | one `Datatype` for each predefined handle |
//! | `unnamed` | predefined datatypes without a name |
//! | `functions` | the C interface |

mod array;
pub(crate) mod basic;
mod compose;
mod construct;
mod contents;
mod copy;
pub(crate) mod elements;
mod external32;
mod functions;
mod layout;
mod message_data;
mod predefined;
mod signature;
#[cfg(test)]
mod tests;
mod unnamed;

pub(crate) use basic::{Class, predefined_size};
pub(crate) use functions::{Integer, count};
pub(crate) use message_data::{MessageData, message_data};
pub(crate) use signature::Signature;

use crate::abi;
use crate::abi::values::MPI_ERR_TYPE;
use crate::check::{self, Failure};
use crate::comm::attributes::Attributes;
use crate::handles::Handles;
use crate::handles::Kind;
use crate::runtime::Guarded;
use crate::runtime::State;
use contents::Contents;
use layout::{LayoutNode, Placed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::{Buffer, Layout, Shape, Span};

/// A datatype, predefined or derived. Sizes in bytes.
pub(crate) struct Datatype {
    /// Bytes of data.
    pub size: usize,
    /// Lower bound.
    pub lb: isize,
    /// Distance from one element to the next.
    pub extent: isize,
    /// Lowest byte of data.
    pub true_lb: isize,
    /// From the lowest byte of data to behind the highest.
    pub true_extent: isize,
    /// Any count of them is `count * size` bytes without a gap from the buffer's address on, in order.
    pub contiguous: bool,
    /// May be used to communicate.
    pub committed: AtomicBool,
    /// The handle, when predefined.
    pub predefined: Option<abi::Datatype>,
    /// Bounds were set (`MPI_Type_create_resized`): they hold for datatypes made of this one, whatever their data (MPI
    /// 5.0, section 5.1.6).
    bounded: bool,
    /// What its most demanding element must be aligned to, in bytes.
    alignment: usize,
    signature: Signature,
    layout: Placed,
    contents: Arc<Contents>,
    name: Mutex<Vec<u8>>,
    attributes: Attributes,
}

/// Elements of another datatype with gaps between them, for tests elsewhere in the crate.
#[cfg(test)]
pub(crate) fn spaced(old: &Arc<Datatype>, extent: usize) -> Arc<Datatype> {
    let made = construct::resized(false, 0, extent as i64, old).unwrap();
    made.committed.store(true, Ordering::Relaxed);
    Arc::new(made)
}

impl Shape for Datatype {
    unsafe fn pack(&self, base: *const u8, count: usize, from: usize, into: &mut [u8]) -> usize {
        let bytes = self.size.saturating_mul(count).saturating_sub(from).min(into.len());
        if bytes == 0 {
            return 0;
        }
        if self.contiguous {
            // SAFETY: the data is contiguous, and the caller promises that it is there.
            unsafe { transport::copy(base.add(from), into.as_mut_ptr(), bytes) };
        } else {
            self.walk(base.cast_mut(), count, from, &mut copy::Pack::new(&mut into[..bytes]));
        }
        bytes
    }

    unsafe fn unpack(&self, base: *mut u8, count: usize, from: usize, data: &[u8]) -> usize {
        let bytes = self.size.saturating_mul(count).saturating_sub(from).min(data.len());
        if bytes == 0 {
            return 0;
        }
        if self.contiguous {
            // SAFETY: the data is contiguous, and the caller promises that it is there.
            unsafe { transport::copy(data.as_ptr(), base.add(from), bytes) };
        } else {
            self.walk(base, count, from, &mut copy::Unpack::new(&data[..bytes]));
        }
        bytes
    }

    fn spans(
        &self,
        base: *mut u8,
        count: usize,
        from: usize,
        most: usize,
        pieces: usize,
        into: &mut Vec<Span>,
    ) -> usize {
        let bytes = self.size.saturating_mul(count).saturating_sub(from).min(most);
        if bytes == 0 || pieces == 0 {
            return 0;
        }
        if self.contiguous {
            into.push(Span { address: base.wrapping_add(from), bytes });
            return bytes;
        }
        let mut list = copy::PieceList::new(into, pieces, bytes);
        self.walk(base, count, from, &mut list);
        list.listed
    }
}

impl Datatype {
    /// Gives the sink the blocks of `count` elements at `base` from byte `from` of the packed data on.
    fn walk(&self, base: *mut u8, count: usize, from: usize, sink: &mut impl layout::BlockSink) {
        let base = base.wrapping_offset(self.layout.at);
        match &self.layout.node {
            // A loop goes on through all elements when their distance is the loop's.
            LayoutNode::Loop(inner) if self.extent == (inner.count as isize).wrapping_mul(inner.stride) => {
                layout::walk_loop(
                    inner.count.saturating_mul(count),
                    inner.stride,
                    &inner.body,
                    base,
                    from,
                    sink,
                );
            }
            node => layout::walk_loop(count, self.extent, node, base, from, sink),
        }
    }

    /// Where the data of `count` elements starts, relative to the buffer's address, when it is `count * size` bytes
    /// without a gap and in order.
    pub(crate) fn one_run(&self, count: usize) -> Option<isize> {
        let LayoutNode::Block(bytes) = self.layout.node else { return None };
        (count <= 1 || self.extent == bytes as isize).then_some(self.layout.at)
    }

    /// The buffer of `count` elements at `address`: as bytes where they lie without a gap.
    pub(crate) fn buffer(self: &Arc<Self>, address: *mut u8, count: usize) -> Buffer {
        let bytes = self.size.saturating_mul(count);
        // SAFETY: the program lends the elements until the transfer is complete.
        unsafe {
            match self.one_run(count) {
                Some(at) => Buffer::new(address.wrapping_offset(at), bytes),
                None => Buffer::of_layout(address, bytes, Layout { shape: self.clone(), count }),
            }
        }
    }

    /// Which basic elements follow each other.
    pub(crate) fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Its name, as the user set it or the standard does.
    pub(crate) fn name(&self) -> MutexGuard<'_, Vec<u8>> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May be used to communicate.
    #[inline]
    pub(crate) fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }
}

/// Derived datatypes by handle.
pub(crate) static DATATYPES: Guarded<Handles<Arc<Datatype>>> = Guarded::new(Handles::new(Kind::Datatype));

impl State {
    /// The datatype of a handle.
    #[inline]
    pub(crate) fn datatype(&self, handle: abi::Datatype) -> Option<&Arc<Datatype>> {
        predefined::get(handle).or_else(|| DATATYPES.of(self).get(handle.0))
    }

    /// The datatype of a handle that was passed as the argument `datatype`.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE`: no datatype, or a freed one.
    #[inline]
    pub(crate) fn valid_datatype(&self, handle: abi::Datatype) -> Result<&Arc<Datatype>, Failure> {
        self.datatype(handle).ok_or_else(|| check::not_an("datatype", "datatype", handle.0, MPI_ERR_TYPE))
    }

    /// As `valid_datatype`, to communicate.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE`: no datatype, a freed one, or one that isn't committed.
    #[inline]
    pub(crate) fn committed_datatype(&self, handle: abi::Datatype) -> Result<&Arc<Datatype>, Failure> {
        let datatype = self.valid_datatype(handle)?;
        if datatype.is_committed() { Ok(datatype) } else { Err(not_committed(handle)) }
    }
}

#[cold]
fn not_committed(handle: abi::Datatype) -> Failure {
    Failure::new(
        MPI_ERR_TYPE,
        format_args!(
            "datatype {:#x} is not committed: MPI_Type_commit makes it fit to communicate",
            handle.0
        ),
    )
}
