//! What the C functions of collectives are passed, checked.

use super::algorithm::{Ranks, Root};
use super::elements::Elements;
use super::schedule::Schedule;
use crate::abi;
use crate::abi::values::*;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::datatype::Datatype;
use crate::op::Reduction;
use crate::runtime::State;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// Where a schedule is built: the state, the communicator, and the schedule.
pub struct Scene<'a> {
    /// What the handles of arguments name.
    pub state: &'a State,
    /// The communicator.
    pub comm: &'a Comm,
    /// What is being built.
    pub schedule: &'a mut Schedule,
}

/// An array of numbers, of one of the widths that the ABI has.
#[derive(Clone, Copy)]
pub enum Numbers {
    /// `int`
    Int(*const c_int),
    /// `MPI_Count`
    Count(*const abi::Count),
    /// `MPI_Aint`
    Aint(*const abi::Aint),
}

impl From<*const c_int> for Numbers {
    fn from(numbers: *const c_int) -> Self {
        Self::Int(numbers)
    }
}

impl From<*const abi::Count> for Numbers {
    fn from(numbers: *const abi::Count) -> Self {
        Self::Count(numbers)
    }
}

impl From<*const abi::Aint> for Numbers {
    fn from(numbers: *const abi::Aint) -> Self {
        Self::Aint(numbers)
    }
}

impl Numbers {
    /// That there is an array, unless nothing is looked up in it.
    ///
    /// # Errors
    /// A null pointer.
    pub fn present(self, length: usize, name: &str) -> Result<Self, Failure> {
        let null = match self {
            Self::Int(numbers) => numbers.is_null(),
            Self::Count(numbers) => numbers.is_null(),
            Self::Aint(numbers) => numbers.is_null(),
        };
        if null && length > 0 {
            return Err(Failure::new(MPI_ERR_ARG, format_args!("{name} is a null pointer")));
        }
        Ok(self)
    }

    /// The number at an index that the array has by the standard's word.
    pub fn at(self, index: usize) -> i64 {
        // SAFETY: the caller's array has a number for each rank or neighbour, by the standard's word.
        unsafe {
            match self {
                Self::Int(numbers) => i64::from(*numbers.add(index)),
                Self::Count(numbers) => *numbers.add(index),
                Self::Aint(numbers) => *numbers.add(index) as i64,
            }
        }
    }

    /// That all are counts.
    ///
    /// # Errors
    /// No array, or a negative count.
    pub fn counts(self, length: usize, name: &str) -> Result<Self, Failure> {
        self.present(length, name)?;
        if check::checking() {
            for index in 0..length {
                let count = self.at(index);
                if count < 0 {
                    let text = format_args!("{name}[{index}] is {count}; allowed are 0 and more");
                    return Err(Failure::new(MPI_ERR_COUNT, text));
                }
            }
        }
        Ok(self)
    }
}

/// `MPI_IN_PLACE`
pub fn is_in_place(buffer: *const c_void) -> bool {
    buffer as usize == MPI_IN_PLACE
}

impl<'a> Scene<'a> {
    /// Who takes part.
    pub fn ranks(&self) -> Ranks {
        let between_groups = self.comm.remote.is_some();
        Ranks {
            own: self.comm.rank,
            count: self.comm.peers().members.len(),
            between_groups,
            crowded: self.state.engine.ranks() > self.state.engine.segment().header().cpus as usize,
        }
    }

    /// `MPI_BYTE`
    pub fn byte(&self) -> &'a Arc<Datatype> {
        self.state.datatype(abi::Datatype(MPI_BYTE)).expect("MPI_BYTE is predefined")
    }

    /// No element.
    pub fn nothing(&self) -> Elements<'a> {
        Elements { address: std::ptr::null_mut(), count: 0, datatype: self.byte() }
    }

    /// `count` elements at `buffer`. `names` are those of buffer and count.
    ///
    /// # Errors
    /// A negative count, no or an uncommitted datatype, no buffer.
    pub fn elements(
        &self,
        buffer: *const c_void,
        count: i64,
        datatype: abi::Datatype,
        names: [&str; 2],
    ) -> Result<Elements<'a>, Failure> {
        let count = check::count(count, names[1])?;
        let datatype = self.state.committed_datatype(datatype)?;
        present(buffer, count, datatype, names[0])?;
        Ok(Elements { address: buffer.cast_mut().cast(), count, datatype })
    }

    /// What is sent: nothing when it is `MPI_IN_PLACE`, which must be `allowed` here.
    ///
    /// # Errors
    /// As `elements`; in place where that isn't allowed.
    pub fn sent(
        &self,
        buffer: *const c_void,
        count: i64,
        datatype: abi::Datatype,
        allowed: bool,
    ) -> Result<Option<Elements<'a>>, Failure> {
        if is_in_place(buffer) {
            return if allowed { Ok(None) } else { Err(not_in_place("sendbuf")) };
        }
        self.elements(buffer, count, datatype, ["sendbuf", "sendcount"]).map(Some)
    }

    /// The reduction of an operation on a datatype, known to the schedule from now on.
    ///
    /// # Errors
    /// As `State::reduction`.
    pub fn reduction(&mut self, op: abi::Op, datatype: abi::Datatype) -> Result<Reduction, Failure> {
        let found = self.state.committed_datatype(datatype)?;
        let reduction = self.state.reduction(op, found, datatype)?;
        self.schedule.reduce_with(reduction, found.extent);
        Ok(reduction)
    }

    /// The root.
    ///
    /// # Errors
    /// `MPI_ERR_ROOT`: no rank of the communicator (of the remote group; `MPI_ROOT` and `MPI_PROC_NULL` are allowed there).
    pub fn root(&self, root: c_int) -> Result<Root, Failure> {
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
    pub fn within_group(&self) -> Result<(), Failure> {
        if self.comm.remote.is_some() {
            let text = "comm is an intercommunicator; allowed is an intracommunicator";
            return Err(Failure::new(MPI_ERR_COMM, text));
        }
        Ok(())
    }
}

/// That `MPI_IN_PLACE` is not allowed for a buffer.
#[cold]
pub fn not_in_place(name: &str) -> Failure {
    Failure::new(MPI_ERR_BUFFER, format_args!("{name} is MPI_IN_PLACE, which is not allowed here"))
}

/// That there is a buffer when there is data.
///
/// # Errors
/// `MPI_ERR_BUFFER`: a null pointer, or `MPI_IN_PLACE`.
pub fn present(buffer: *const c_void, count: usize, datatype: &Datatype, name: &str) -> Result<(), Failure> {
    if !check::checking() {
        return Ok(());
    }
    if is_in_place(buffer) {
        return Err(not_in_place(name));
    }
    // Data of a derived datatype may lie at absolute addresses: a null pointer is MPI_BOTTOM.
    check::buffer(buffer, count * datatype.size, datatype.predefined.is_none(), name)
}

/// That what is sent doesn't lie where something is received.
///
/// # Errors
/// `MPI_ERR_BUFFER`
pub fn apart(sent: &Elements, received: &Elements) -> Result<(), Failure> {
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
