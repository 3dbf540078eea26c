//! The C functions: of each collective the blocking, non-blocking and persistent one, each with counts of `int` and of
//! `MPI_Count`.
//!
//! A builder (`build`) takes the arguments of all six.

use super::arguments::Numbers;
use super::blocks::Blocks;
use super::{build, crowd, giving, neighbourhood, quick, run};
use crate::abi;
use crate::call::{In, Out};
use crate::check::{self, Failure};
use crate::comm::info::hints;
use crate::comm::mpi;
use crate::datatype::message_data;
use std::ffi::{c_int, c_void};

/// The C type of a kind of argument, with counts of `int` (small) or `MPI_Count` (large).
macro_rules! kind {
    ($width:ident input) => { *const c_void };
    ($width:ident output) => { *mut c_void };
    ($width:ident datatype) => { abi::Datatype };
    ($width:ident datatypes) => { In<abi::Datatype> };
    ($width:ident op) => { abi::Op };
    ($width:ident root) => { c_int };
    (small count) => { c_int };
    (large count) => { abi::Count };
    (small counts) => { In<c_int> };
    (large counts) => { In<abi::Count> };
    (small displacements) => { In<c_int> };
    (large displacements) => { In<abi::Aint> };
    ($width:ident addresses) => { In<abi::Aint> };
}

/// Arguments as builders take them.
macro_rules! value {
    (data $buffer:ident $count:ident $datatype:ident) => {
        message_data!($buffer, $count, $datatype)
    };
    (even $buffer:ident $count:ident $datatype:ident) => {
        Blocks::Even(message_data!($buffer, $count, $datatype))
    };
    (uneven $buffer:ident $counts:ident $displacements:ident $datatype:ident) => {
        Blocks::Uneven {
            buffer: $buffer as *const c_void,
            name: stringify!($buffer),
            counts: Numbers::from($counts),
            displacements: Numbers::from($displacements),
            datatype: $datatype,
        }
    };
    (typed $buffer:ident $counts:ident $displacements:ident $datatypes:ident) => {
        Blocks::Typed {
            buffer: $buffer as *const c_void,
            name: stringify!($buffer),
            counts: Numbers::from($counts),
            displacements: Numbers::from($displacements),
            datatypes: $datatypes,
        }
    };
    (both $send:ident $receive:ident $count:ident $datatype:ident) => {
        (message_data!($send, $count, $datatype), message_data!($receive, $count, $datatype))
    };
    (counts $counts:ident) => {
        Numbers::from($counts)
    };
    (output $buffer:ident) => {
        $buffer.cast_const()
    };
    (same $argument:ident) => {
        $argument
    };
}

/// That an info is one. No hint for collectives is known.
fn valid(info: abi::Info) -> Result<(), Failure> {
    hints(&*check::running()?, info).map(drop)
}

/// Tries the shorter way, if there is one.
macro_rules! shorter {
    ([] $($arguments:tt)*) => {};
    ([$quick:ident] $($arguments:tt)*) => {
        given!([$quick] $($arguments)*);
        if quick::$quick($($arguments)*)? {
            return Ok(());
        }
        crowded!([$quick] $($arguments)*);
    };
}

/// Tries the way of a simulated Cell, if there is one.
macro_rules! given {
    ([bcast] $($arguments:tt)*) => {
        if giving::bcast($($arguments)*)? {
            return Ok(());
        }
    };
    ([allreduce] $($arguments:tt)*) => {
        if giving::allreduce($($arguments)*)? {
            return Ok(());
        }
    };
    ([$($other:ident)?] $($arguments:tt)*) => {};
}

/// Tries the way of ranks that share cpus, if there is one.
macro_rules! crowded {
    ([bcast] $($arguments:tt)*) => {
        if crowd::bcast($($arguments)*)? {
            return Ok(());
        }
    };
    ([reduce] $($arguments:tt)*) => {
        if crowd::reduce($($arguments)*)? {
            return Ok(());
        }
    };
    ([gather] $($arguments:tt)*) => {
        if crowd::gather($($arguments)*)? {
            return Ok(());
        }
    };
    ([allgather] $($arguments:tt)*) => {
        if crowd::allgather($($arguments)*)? {
            return Ok(());
        }
    };
    ([allreduce] $($arguments:tt)*) => {
        if crowd::allreduce($($arguments)*)? {
            return Ok(());
        }
    };
    ([$($other:ident)?] $($arguments:tt)*) => {};
}

/// The functions of collectives: the builder's module and name, the arguments before the communicator, grouped as the
/// builder takes them; the name of a shorter way (`quick`), if there is one; the functions' names.
macro_rules! collectives {
    ($(
        $(#[$doc:meta])*
        $builder:ident $build:ident($($group:ident($($name:ident: $kind:ident),*)),* $(,)?) $(=> $quick:ident,)?
            $blocking:ident $blocking_c:ident $start:ident $start_c:ident $init:ident $init_c:ident;
    )*) => {$(
        mpi! {
            $(#[$doc])*
            fn $blocking($($($name: kind!(small $kind),)*)* comm: abi::Comm) on comm {
                shorter!([$($quick)?] $(value!($group $($name)*),)* comm);
                run::blocking(comm, |scene| $builder::$build(scene, $(value!($group $($name)*)),*))
            }
            $(#[$doc])*
            fn $blocking_c($($($name: kind!(large $kind),)*)* comm: abi::Comm) on comm {
                given!([$($quick)?] $(value!($group $($name)*),)* comm);
                crowded!([$($quick)?] $(value!($group $($name)*),)* comm);
                run::blocking(comm, |scene| $builder::$build(scene, $(value!($group $($name)*)),*))
            }
            $(#[$doc])*
            fn $start($($($name: kind!(small $kind),)*)* comm: abi::Comm, request: Out<abi::Request>) on comm {
                run::start(comm, request, |scene| $builder::$build(scene, $(value!($group $($name)*)),*))
            }
            $(#[$doc])*
            fn $start_c($($($name: kind!(large $kind),)*)* comm: abi::Comm, request: Out<abi::Request>) on comm {
                run::start(comm, request, |scene| $builder::$build(scene, $(value!($group $($name)*)),*))
            }
            $(#[$doc])*
            fn $init(
                $($($name: kind!(small $kind),)*)* comm: abi::Comm, info: abi::Info, request: Out<abi::Request>
            ) on comm {
                valid(info)?;
                run::persistent(comm, request, |scene| $builder::$build(scene, $(value!($group $($name)*)),*))
            }
            $(#[$doc])*
            fn $init_c(
                $($($name: kind!(large $kind),)*)* comm: abi::Comm, info: abi::Info, request: Out<abi::Request>
            ) on comm {
                valid(info)?;
                run::persistent(comm, request, |scene| $builder::$build(scene, $(value!($group $($name)*)),*))
            }
        }
    )*};
}

collectives! {
    /// The root's data for all (MPI 5.0, section 6.4).
    build bcast(data(buffer: output, count: count, datatype: datatype), same(root: root)) => bcast,
        PMPI_Bcast PMPI_Bcast_c PMPI_Ibcast PMPI_Ibcast_c PMPI_Bcast_init PMPI_Bcast_init_c;
    /// A block of every rank for the root (MPI 5.0, section 6.5).
    build gather(
        data(sendbuf: input, sendcount: count, sendtype: datatype),
        even(recvbuf: output, recvcount: count, recvtype: datatype),
        same(root: root),
    ) => gather,
        PMPI_Gather PMPI_Gather_c PMPI_Igather PMPI_Igather_c PMPI_Gather_init PMPI_Gather_init_c;
    /// A block of every rank for the root, as large as each says (MPI 5.0, section 6.5).
    build gather(
        data(sendbuf: input, sendcount: count, sendtype: datatype),
        uneven(recvbuf: output, recvcounts: counts, displs: displacements, recvtype: datatype),
        same(root: root),
    ) PMPI_Gatherv PMPI_Gatherv_c PMPI_Igatherv PMPI_Igatherv_c PMPI_Gatherv_init PMPI_Gatherv_init_c;
    /// A block of the root for every rank (MPI 5.0, section 6.6).
    build scatter(
        even(sendbuf: input, sendcount: count, sendtype: datatype),
        data(recvbuf: output, recvcount: count, recvtype: datatype),
        same(root: root),
    ) => scatter,
        PMPI_Scatter PMPI_Scatter_c PMPI_Iscatter PMPI_Iscatter_c PMPI_Scatter_init PMPI_Scatter_init_c;
    /// A block of the root for every rank, as large as it says (MPI 5.0, section 6.6).
    build scatter(
        uneven(sendbuf: input, sendcounts: counts, displs: displacements, sendtype: datatype),
        data(recvbuf: output, recvcount: count, recvtype: datatype),
        same(root: root),
    ) PMPI_Scatterv PMPI_Scatterv_c PMPI_Iscatterv PMPI_Iscatterv_c PMPI_Scatterv_init PMPI_Scatterv_init_c;
    /// A block of every rank for all (MPI 5.0, section 6.7).
    build allgather(
        data(sendbuf: input, sendcount: count, sendtype: datatype),
        even(recvbuf: output, recvcount: count, recvtype: datatype),
    ) => allgather,
        PMPI_Allgather PMPI_Allgather_c PMPI_Iallgather PMPI_Iallgather_c PMPI_Allgather_init PMPI_Allgather_init_c;
    /// A block of every rank for all, as large as each says (MPI 5.0, section 6.7).
    build allgather(
        data(sendbuf: input, sendcount: count, sendtype: datatype),
        uneven(recvbuf: output, recvcounts: counts, displs: displacements, recvtype: datatype),
    ) PMPI_Allgatherv PMPI_Allgatherv_c PMPI_Iallgatherv PMPI_Iallgatherv_c
        PMPI_Allgatherv_init PMPI_Allgatherv_init_c;
    /// A block of every rank for every rank (MPI 5.0, section 6.8).
    build alltoall(
        even(sendbuf: input, sendcount: count, sendtype: datatype),
        even(recvbuf: output, recvcount: count, recvtype: datatype),
    ) => alltoall,
        PMPI_Alltoall PMPI_Alltoall_c PMPI_Ialltoall PMPI_Ialltoall_c PMPI_Alltoall_init PMPI_Alltoall_init_c;
    /// A block of every rank for every rank, as large as each says (MPI 5.0, section 6.8).
    build alltoall(
        uneven(sendbuf: input, sendcounts: counts, sdispls: displacements, sendtype: datatype),
        uneven(recvbuf: output, recvcounts: counts, rdispls: displacements, recvtype: datatype),
    ) PMPI_Alltoallv PMPI_Alltoallv_c PMPI_Ialltoallv PMPI_Ialltoallv_c
        PMPI_Alltoallv_init PMPI_Alltoallv_init_c;
    /// A block of every rank for every rank, of a datatype of its own; displacements in bytes (MPI 5.0, section 6.8).
    build alltoall(
        typed(sendbuf: input, sendcounts: counts, sdispls: displacements, sendtypes: datatypes),
        typed(recvbuf: output, recvcounts: counts, rdispls: displacements, recvtypes: datatypes),
    ) PMPI_Alltoallw PMPI_Alltoallw_c PMPI_Ialltoallw PMPI_Ialltoallw_c
        PMPI_Alltoallw_init PMPI_Alltoallw_init_c;
    /// The operands of all ranks, reduced at the root (MPI 5.0, section 6.9.1).
    build reduce(
        both(sendbuf: input, recvbuf: output, count: count, datatype: datatype),
        same(op: op),
        same(root: root),
    ) => reduce, PMPI_Reduce PMPI_Reduce_c PMPI_Ireduce PMPI_Ireduce_c PMPI_Reduce_init PMPI_Reduce_init_c;
    /// The operands of all ranks, reduced everywhere (MPI 5.0, section 6.9.6).
    build allreduce(both(sendbuf: input, recvbuf: output, count: count, datatype: datatype), same(op: op)) => allreduce,
        PMPI_Allreduce PMPI_Allreduce_c PMPI_Iallreduce PMPI_Iallreduce_c
        PMPI_Allreduce_init PMPI_Allreduce_init_c;
    /// The operands of all ranks, reduced, a block at each (MPI 5.0, section 6.10.1).
    build reduce_scatter_block(
        both(sendbuf: input, recvbuf: output, recvcount: count, datatype: datatype),
        same(op: op),
    ) PMPI_Reduce_scatter_block PMPI_Reduce_scatter_block_c PMPI_Ireduce_scatter_block
        PMPI_Ireduce_scatter_block_c PMPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init_c;
    /// The operands of all ranks, reduced, a block at each, as large as said (MPI 5.0, section 6.10.2).
    build reduce_scatter(
        same(sendbuf: input),
        output(recvbuf: output),
        counts(recvcounts: counts),
        same(datatype: datatype),
        same(op: op),
    ) PMPI_Reduce_scatter PMPI_Reduce_scatter_c PMPI_Ireduce_scatter PMPI_Ireduce_scatter_c
        PMPI_Reduce_scatter_init PMPI_Reduce_scatter_init_c;
    /// The operands of the ranks up to each one, reduced there (MPI 5.0, section 6.11.1).
    build scan(both(sendbuf: input, recvbuf: output, count: count, datatype: datatype), same(op: op))
        PMPI_Scan PMPI_Scan_c PMPI_Iscan PMPI_Iscan_c PMPI_Scan_init PMPI_Scan_init_c;
    /// The operands of the ranks before each one, reduced there (MPI 5.0, section 6.11.2).
    build exscan(both(sendbuf: input, recvbuf: output, count: count, datatype: datatype), same(op: op))
        PMPI_Exscan PMPI_Exscan_c PMPI_Iexscan PMPI_Iexscan_c PMPI_Exscan_init PMPI_Exscan_init_c;
}

collectives! {
    /// A block for all destinations, and one of every source (MPI 5.0, section 8.7.1).
    neighbourhood neighbor_allgather(
        data(sendbuf: input, sendcount: count, sendtype: datatype),
        even(recvbuf: output, recvcount: count, recvtype: datatype),
    ) PMPI_Neighbor_allgather PMPI_Neighbor_allgather_c PMPI_Ineighbor_allgather PMPI_Ineighbor_allgather_c
        PMPI_Neighbor_allgather_init PMPI_Neighbor_allgather_init_c;
    /// A block for all destinations, and one of every source, as large as each says (MPI 5.0, section 8.7.1).
    neighbourhood neighbor_allgather(
        data(sendbuf: input, sendcount: count, sendtype: datatype),
        uneven(recvbuf: output, recvcounts: counts, displs: displacements, recvtype: datatype),
    ) PMPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv_c PMPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv_c
        PMPI_Neighbor_allgatherv_init PMPI_Neighbor_allgatherv_init_c;
    /// A block for every destination, and one of every source (MPI 5.0, section 8.7.2).
    neighbourhood neighbor_alltoall(
        even(sendbuf: input, sendcount: count, sendtype: datatype),
        even(recvbuf: output, recvcount: count, recvtype: datatype),
    ) PMPI_Neighbor_alltoall PMPI_Neighbor_alltoall_c PMPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall_c
        PMPI_Neighbor_alltoall_init PMPI_Neighbor_alltoall_init_c;
    /// A block for every destination, and one of every source, as large as each says (MPI 5.0, section 8.7.2).
    neighbourhood neighbor_alltoall(
        uneven(sendbuf: input, sendcounts: counts, sdispls: displacements, sendtype: datatype),
        uneven(recvbuf: output, recvcounts: counts, rdispls: displacements, recvtype: datatype),
    ) PMPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv_c PMPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv_c
        PMPI_Neighbor_alltoallv_init PMPI_Neighbor_alltoallv_init_c;
    /// A block for every destination, and one of every source, of datatypes of their own (MPI 5.0, section 8.7.2).
    neighbourhood neighbor_alltoall(
        typed(sendbuf: input, sendcounts: counts, sdispls: addresses, sendtypes: datatypes),
        typed(recvbuf: output, recvcounts: counts, rdispls: addresses, recvtypes: datatypes),
    ) PMPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw_c PMPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw_c
        PMPI_Neighbor_alltoallw_init PMPI_Neighbor_alltoallw_init_c;
}

mpi! {
    /// No rank leaves before all have come (MPI 5.0, section 6.3).
    fn PMPI_Barrier(comm: abi::Comm) on comm {
        if giving::barrier(comm)? || quick::barrier(comm)? {
            return Ok(());
        }
        run::blocking(comm, build::barrier)
    }

    /// Complete when all ranks have come.
    fn PMPI_Ibarrier(comm: abi::Comm, request: Out<abi::Request>) on comm {
        run::start(comm, request, build::barrier)
    }

    /// A barrier that the program starts again and again.
    fn PMPI_Barrier_init(comm: abi::Comm, info: abi::Info, request: Out<abi::Request>) on comm {
        valid(info)?;
        run::persistent(comm, request, build::barrier)
    }
}
