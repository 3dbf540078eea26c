//! The C functions of operations (MPI 5.0, sections 6.9.5 and 6.9.7).

use super::{Function, LargeFunction, Operation, Predefined, UserFunction, name, no_such};
use crate::abi;
use crate::abi::values::*;
use crate::call::{InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::elements::Elements;
use crate::op::OPS;
use std::ffi::{c_int, c_void};

fn create(function: Option<UserFunction>, commute: c_int, op: Out<'_, abi::Op>) -> Result<(), Failure> {
    let mut state = check::running()?;
    op.present()?;
    let Some(function) = function else {
        return Err(Failure::new(MPI_ERR_ARG, "user_fn is a null pointer"));
    };
    op.write(abi::Op(OPS.of_mut(&mut state).insert(Operation { function, commutative: commute != 0 })))
}

fn reduce_local(
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(), Failure> {
    let (reduction, extent, count) = {
        let state = check::running()?;
        let count = check::count(count, "count")?;
        let found = state.committed_datatype(datatype)?;
        let reduction = state.reduction(op, found, datatype)?;
        for (buffer, name) in [(inbuf, "inbuf"), (inoutbuf.cast_const(), "inoutbuf")] {
            if check::checking() && buffer as usize == MPI_IN_PLACE {
                let text = format_args!("{name} is MPI_IN_PLACE, which is not allowed here");
                return Err(Failure::new(MPI_ERR_BUFFER, text));
            }
            check::buffer(buffer, count * found.size, found.predefined.is_none(), name)?;
        }
        let [a, b] = [inbuf, inoutbuf.cast_const()].map(|buffer| Elements {
            address: buffer.cast_mut().cast(),
            count,
            datatype: found,
        });
        if check::checking() && a.overlaps(&b) {
            return Err(Failure::new(MPI_ERR_BUFFER, "inbuf and inoutbuf overlap"));
        }
        (reduction, found.extent, count)
    };
    if count > 0 {
        // SAFETY: the caller's buffers hold `count` elements; the state is not held.
        unsafe { reduction.apply(inbuf.cast(), inoutbuf.cast(), count, extent) };
    }
    Ok(())
}

mpi! {
    /// Makes an operation of a function whose count is an `int`.
    fn PMPI_Op_create(user_fn: Option<Function>, commute: c_int, op: Out<abi::Op>) {
        create(user_fn.map(UserFunction::Small), commute, op)
    }

    /// Makes an operation of a function whose count is an `MPI_Count`.
    fn PMPI_Op_create_c(user_fn: Option<LargeFunction>, commute: c_int, op: Out<abi::Op>) {
        create(user_fn.map(UserFunction::Large), commute, op)
    }

    /// Frees an operation; collectives under way go on with it.
    fn PMPI_Op_free(op: InOut<abi::Op>) {
        let mut state = check::running()?;
        let handle = op.read()?;
        if OPS.of_mut(&mut state).remove(handle.0).is_none() {
            if Predefined::of(handle).is_some() || matches!(handle.0, MPI_REPLACE | MPI_NO_OP) {
                let name = name(handle);
                let text = format_args!("op is {name}, which is predefined; allowed are those of MPI_Op_create");
                return Err(Failure::new(MPI_ERR_OP, text));
            }
            return Err(no_such(handle));
        }
        op.write(abi::Op(MPI_OP_NULL))
    }

    /// Whether operands may change places.
    fn PMPI_Op_commutative(op: abi::Op, commute: Out<c_int>) {
        let state = check::running()?;
        let commutative = match OPS.of(&state).get(op.0) {
            Some(operation) => operation.commutative,
            None if Predefined::of(op).is_some() => true,
            // The last one written stays (MPI 5.0, section 12.3.4).
            None if matches!(op.0, MPI_REPLACE | MPI_NO_OP) => false,
            None => return Err(no_such(op)),
        };
        commute.write(c_int::from(commutative))
    }

    /// Reduces two buffers of this process.
    fn PMPI_Reduce_local(
        inbuf: *const c_void,
        inoutbuf: *mut c_void,
        count: c_int,
        datatype: abi::Datatype,
        op: abi::Op,
    ) {
        reduce_local(inbuf, inoutbuf, i64::from(count), datatype, op)
    }

    /// Reduces two buffers of this process.
    fn PMPI_Reduce_local_c(
        inbuf: *const c_void,
        inoutbuf: *mut c_void,
        count: abi::Count,
        datatype: abi::Datatype,
        op: abi::Op,
    ) {
        reduce_local(inbuf, inoutbuf, count, datatype, op)
    }
}
