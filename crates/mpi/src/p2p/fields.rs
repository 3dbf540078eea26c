//! The parts of a status that programs set and read by function (MPI 5.0, sections 3.2.5, 3.8.4 and 13.3).

use crate::abi::Status;
use crate::check::{self, mpi};
use std::ffi::c_int;

mpi! {
    /// MPI 5.0, section 3.2.5.
    fn PMPI_Status_get_source(status: *const Status, source: *mut c_int) {
        *check::output(source, "source")? = check::output(status.cast_mut(), "status")?.MPI_SOURCE;
        Ok(())
    }

    /// MPI 5.0, section 3.2.5.
    fn PMPI_Status_get_tag(status: *const Status, tag: *mut c_int) {
        *check::output(tag, "tag")? = check::output(status.cast_mut(), "status")?.MPI_TAG;
        Ok(())
    }

    /// MPI 5.0, section 3.2.5.
    fn PMPI_Status_get_error(status: *const Status, error: *mut c_int) {
        *check::output(error, "error")? = check::output(status.cast_mut(), "status")?.MPI_ERROR;
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_source(status: *mut Status, source: c_int) {
        check::output(status, "status")?.MPI_SOURCE = source;
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_tag(status: *mut Status, tag: c_int) {
        check::output(status, "status")?.MPI_TAG = tag;
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_error(status: *mut Status, error: c_int) {
        check::output(status, "status")?.MPI_ERROR = error;
        Ok(())
    }

    /// MPI 5.0, section 13.3.
    fn PMPI_Status_set_cancelled(status: *mut Status, flag: c_int) {
        check::output(status, "status")?.internal[2] = (flag != 0).into();
        Ok(())
    }

    /// MPI 5.0, section 3.8.4.
    fn PMPI_Test_cancelled(status: *const Status, flag: *mut c_int) {
        *check::output(flag, "flag")? = check::output(status.cast_mut(), "status")?.internal[2];
        Ok(())
    }
}
