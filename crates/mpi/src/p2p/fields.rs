//! The parts of a status that programs set and read by function (MPI 5.0, sections 3.2.5, 3.8.4 and 13.3).

use crate::abi::Status;
use crate::call::{In, Out};
use crate::comm::mpi;
use std::ffi::c_int;

mpi! {
    /// MPI 5.0, section 3.2.5.
    fn PMPI_Status_get_source(status: In<Status>, source: Out<c_int>) {
        source.write(status.source()?)
    }

    /// MPI 5.0, section 3.2.5.
    fn PMPI_Status_get_tag(status: In<Status>, tag: Out<c_int>) {
        tag.write(status.tag()?)
    }

    /// MPI 5.0, section 3.2.5.
    fn PMPI_Status_get_error(status: In<Status>, error: Out<c_int>) {
        error.write(status.error()?)
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_source(status: Out<Status>, source: c_int) {
        status.present()?;
        status.set_source(source);
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_tag(status: Out<Status>, tag: c_int) {
        status.present()?;
        status.set_tag(tag);
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_error(status: Out<Status>, error: c_int) {
        status.present()?;
        status.set_error(error);
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_cancelled(status: Out<Status>, flag: c_int) {
        status.present()?;
        status.set_cancelled(flag != 0);
        Ok(())
    }

    /// MPI 5.0, section 3.8.4.
    fn PMPI_Test_cancelled(status: In<Status>, flag: Out<c_int>) {
        flag.write(status.cancelled()?)
    }
}
