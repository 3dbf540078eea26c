//! The arguments of the C functions of collectives, checked.

use super::algorithm::{Ranks, Root};
use super::blocks::{Blocks, PlacedBlocks};
use super::schedule::CollectiveSchedule;
use crate::abi;
use crate::abi::values::*;
use crate::call::In;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::datatype::Datatype;
use crate::datatype::MessageData;
use crate::datatype::elements::Elements;
use crate::op::{ElementType, Reduction};
use crate::runtime::State;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Where a schedule is built: the state, the communicator, and the schedule.
pub(super) struct Scene<'a> {
    /// What the handles of arguments name.
    pub state: &'a State,
    /// The communicator.
    pub comm: &'a Comm,
    /// What is being built.
    pub schedule: &'a mut CollectiveSchedule,
}

/// The first of an array of numbers, of one of the widths that the ABI has, as C passes it.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'call> {
    Int(In<'call, c_int>),
    Count(In<'call, abi::Count>),
    Aint(In<'call, abi::Aint>),
}

/// An array of numbers, one for each rank or neighbour.
#[derive(Clone, Copy)]
pub(super) enum Row<'call> {
    Int(In<'call, [c_int]>),
    Count(In<'call, [abi::Count]>),
    Aint(In<'call, [abi::Aint]>),
}

impl<'call> From<In<'call, c_int>> for Numbers<'call> {
    fn from(first: In<'call, c_int>) -> Self {
        Self::Int(first)
    }
}

impl<'call> From<In<'call, abi::Count>> for Numbers<'call> {
    fn from(first: In<'call, abi::Count>) -> Self {
        Self::Count(first)
    }
}

impl<'call> From<In<'call, abi::Aint>> for Numbers<'call> {
    fn from(first: In<'call, abi::Aint>) -> Self {
        Self::Aint(first)
    }
}

impl<'call> Numbers<'call> {
    /// The array, which must be there unless it is empty.
    ///
    /// # Errors
    /// A null pointer.
    ///
    /// # Safety
    /// It is null, or has that many elements.
    pub(super) unsafe fn array(self, length: usize) -> Result<Row<'call>, Failure> {
        // SAFETY: as the caller promises.
        unsafe {
            Ok(match self {
                Self::Int(first) => Row::Int(present_array(first.array(length))?),
                Self::Count(first) => Row::Count(present_array(first.array(length))?),
                Self::Aint(first) => Row::Aint(present_array(first.array(length))?),
            })
        }
    }
}

/// An array that must be there unless it is empty.
pub(super) fn present_array<T: Copy>(array: In<'_, [T]>) -> Result<In<'_, [T]>, Failure> {
    array.present().map(|()| array)
}

impl Row<'_> {
    /// Numbers in the array.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Int(numbers) => numbers.len(),
            Self::Count(numbers) => numbers.len(),
            Self::Aint(numbers) => numbers.len(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Int(numbers) => numbers.name(),
            Self::Count(numbers) => numbers.name(),
            Self::Aint(numbers) => numbers.name(),
        }
    }

    /// The number at an index.
    pub(super) fn at(self, index: usize) -> i64 {
        match self {
            Self::Int(numbers) => i64::from(numbers.get(index)),
            Self::Count(numbers) => numbers.get(index),
            Self::Aint(numbers) => numbers.get(index) as i64,
        }
    }

    /// That all are counts.
    ///
    /// # Errors
    /// A negative count.
    pub(super) fn counts(self) -> Result<Self, Failure> {
        if check::checking() {
            for index in 0..self.len() {
                let count = self.at(index);
                if count < 0 {
                    let text = format_args!("{}[{index}] is {count}; allowed are 0 and more", self.name());
                    return Err(Failure::new(MPI_ERR_COUNT, text));
                }
            }
        }
        Ok(self)
    }
}

/// `MPI_IN_PLACE`
pub(super) fn is_in_place(buffer: *const c_void) -> bool {
    buffer as usize == MPI_IN_PLACE
}

impl<'a> Scene<'a> {
    /// The ranks that take part.
    pub(super) fn ranks(&self) -> Ranks {
        let between_groups = self.comm.remote.is_some();
        Ranks {
            own: self.comm.rank,
            count: self.comm.peers().members.len(),
            between_groups,
            crowded: self.state.engine.segment().is_crowded(),
        }
    }

    /// An array that has an element for each rank of the (local) group.
    ///
    /// # Errors
    /// A null pointer.
    pub(super) fn for_group<'call>(&self, first: Numbers<'call>) -> Result<Row<'call>, Failure> {
        // SAFETY: the standard says so of the argument, and the caller promised what the standard says.
        unsafe { first.array(self.comm.size()) }
    }

    /// `MPI_BYTE`
    pub(super) fn byte(&self) -> &'a Arc<Datatype> {
        self.state.datatype(abi::Datatype(MPI_BYTE)).expect("MPI_BYTE is predefined")
    }

    /// No element.
    pub(super) fn nothing(&self) -> Elements<'a> {
        Elements { address: std::ptr::null_mut(), count: 0, datatype: self.byte() }
    }

    /// The elements of a buffer.
    ///
    /// # Errors
    /// A negative count, no or an uncommitted datatype, no buffer.
    // Inlined always, as are the next ones: the answers stay in registers. The cpu cannot forward words that were just
    // written one by one to a load of two, which then waits until all stores before are done: those of the last copy.
    #[inline(always)]
    pub(super) fn elements(&self, data: MessageData) -> Result<Elements<'a>, Failure> {
        let MessageData { address, count, datatype, names } = data;
        let count = check::count(count, names[1])?;
        let datatype = self.state.committed_datatype(datatype)?;
        present(address, count, datatype, names[0])?;
        Ok(Elements { address: address.cast_mut().cast(), count, datatype })
    }

    /// The elements of a buffer: nothing when it is `MPI_IN_PLACE`, which must be `allowed` here.
    ///
    /// # Errors
    /// As `elements`; in place where that isn't allowed.
    #[inline(always)]
    pub(super) fn unless_in_place(
        &self,
        data: MessageData,
        allowed: bool,
    ) -> Result<Option<Elements<'a>>, Failure> {
        if is_in_place(data.address) {
            return if allowed { Ok(None) } else { Err(not_in_place(data.names[0])) };
        }
        self.elements(data).map(Some)
    }

    /// A block for each rank that messages go to.
    ///
    /// # Errors
    /// As `elements`, of any block.
    #[inline(always)]
    pub(super) fn blocks<'call>(&self, blocks: Blocks<'call>) -> Result<PlacedBlocks<'a, 'call>, Failure> {
        // SAFETY: the standard says so of the arguments, and the caller promised what the standard says.
        unsafe { blocks.placed(self, self.comm.peers().members.len()) }
    }

    /// The reduction of an operation on a datatype, known to the schedule from now on.
    ///
    /// # Errors
    /// As `State::reduction`.
    pub(super) fn reduction(&mut self, op: abi::Op, datatype: abi::Datatype) -> Result<Reduction, Failure> {
        let found = self.state.committed_datatype(datatype)?;
        let reduction = self.state.reduction(op, found, datatype)?;
        self.schedule.reduce_with(reduction, found.extent);
        let double = found.predefined.and_then(ElementType::of).is_some_and(ElementType::is_double);
        self.schedule.reduce_elements(found.size, double);
        Ok(reduction)
    }

    /// The root.
    ///
    /// # Errors
    /// `MPI_ERR_ROOT`: no rank of the communicator (of the remote group; `MPI_ROOT` and `MPI_PROC_NULL` are allowed
    /// there).
    pub(super) fn root(&self, root: c_int) -> Result<Root, Failure> {
        let ranks = self.comm.peers().members.len();
        match root {
            root if (0..ranks as i64).contains(&i64::from(root)) => Ok(Root::Rank(root as usize)),
            MPI_ROOT if self.comm.remote.is_some() => Ok(Root::Here),
            MPI_PROC_NULL if self.comm.remote.is_some() => Ok(Root::Elsewhere),
            _ => {
                let more = if self.comm.remote.is_some() {
                    " of the remote group, MPI_ROOT and MPI_PROC_NULL"
                } else {
                    ""
                };
                let text = format_args!("root is {root}; allowed are 0 to {}{more}", ranks - 1);
                Err(Failure::new(MPI_ERR_ROOT, text))
            }
        }
    }

    /// That it is no intercommunicator.
    ///
    /// # Errors
    /// `MPI_ERR_COMM`
    pub(super) fn within_group(&self) -> Result<(), Failure> {
        if self.comm.remote.is_some() {
            let text = "comm is an intercommunicator; allowed is an intracommunicator";
            return Err(Failure::new(MPI_ERR_COMM, text));
        }
        Ok(())
    }
}

/// That `MPI_IN_PLACE` is not allowed for a buffer.
#[cold]
pub(super) fn not_in_place(name: &str) -> Failure {
    Failure::new(MPI_ERR_BUFFER, format_args!("{name} is MPI_IN_PLACE, which is not allowed here"))
}

/// That there is a buffer when there is data.
///
/// # Errors
/// `MPI_ERR_BUFFER`: a null pointer, or `MPI_IN_PLACE`.
pub(super) fn present(
    buffer: *const c_void,
    count: usize,
    datatype: &Datatype,
    name: &str,
) -> Result<(), Failure> {
    if !check::checking() {
        return Ok(());
    }
    if is_in_place(buffer) {
        return Err(not_in_place(name));
    }
    // Data of a derived datatype may lie at absolute addresses: a null pointer is MPI_BOTTOM.
    check::buffer(buffer, count * datatype.size, datatype.predefined.is_none(), name)
}

/// That the sent and the received data do not overlap.
///
/// # Errors
/// `MPI_ERR_BUFFER`
pub(super) fn apart(sent: &Elements, received: &Elements) -> Result<(), Failure> {
    if check::checking()
        && sent.datatype.contiguous
        && received.datatype.contiguous
        && sent.overlaps(received)
    {
        let text = "sendbuf and recvbuf overlap; to use one buffer for both, sendbuf is MPI_IN_PLACE";
        return Err(Failure::new(MPI_ERR_BUFFER, text));
    }
    Ok(())
}
