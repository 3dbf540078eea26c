//! Hints of communicators (MPI 5.0, section 7.4.4). They change nothing here: messages are matched the same way
//! whatever a program promises.

use super::info::{self, Info};
use crate::abi;
use crate::abi::values::MPI_ERR_INFO_VALUE;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::info::INFOS;
use crate::comm::mpi;
use crate::comm::valid;

/// What a program can promise; false unless it does.
const PROMISES: [&str; 5] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
];

/// The hints in use: all promises. Whatever else was given is ignored, and so not told (MPI 5.0, section 7.4.4).
fn in_use(given: &Info) -> Info {
    let mut hints = Info::default();
    for promise in PROMISES {
        hints.set(promise.as_bytes(), given.get(promise.as_bytes()).unwrap_or(b"false"));
    }
    hints
}

/// That promises are true or false.
fn valid(hints: &Info) -> Result<(), Failure> {
    for promise in PROMISES {
        let value = hints.get(promise.as_bytes()).unwrap_or(b"false");
        if value != b"true" && value != b"false" {
            let value = String::from_utf8_lossy(value);
            let text = format_args!("info has {promise} = \"{value}\"; allowed are \"true\" and \"false\"");
            return Err(Failure::new(MPI_ERR_INFO_VALUE, text));
        }
    }
    Ok(())
}

mpi! {
    /// Adds hints to those of a communicator.
    fn PMPI_Comm_set_info(comm: abi::Comm, info: abi::Info) on comm {
        let state = check::running()?;
        let comm = valid::comm(&state, comm)?;
        let hints = info::hints(&state, info)?;
        valid(&hints)?;
        comm.hints.lock().unwrap().add(&hints);
        Ok(())
    }

    /// The hints of a communicator, as an info to be freed.
    fn PMPI_Comm_get_info(comm: abi::Comm, info_used: Out<abi::Info>) on comm {
        let mut state = check::running()?;
        let hints = in_use(&valid::comm(&state, comm)?.hints.lock().unwrap());
        info_used.write(abi::Info(INFOS.of_mut(&mut state).insert(hints)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_false_until_it_is_given() {
        let mut given = Info::default();
        assert_eq!(in_use(&given).get(b"mpi_assert_no_any_tag"), Some(&b"false"[..]));
        given.set(b"mpi_assert_no_any_tag", b"true");
        given.set(b"other", b"1");
        let hints = in_use(&given);
        assert_eq!(hints.get(b"mpi_assert_no_any_tag"), Some(&b"true"[..]));
        assert_eq!(hints.get(b"other"), None);
    }

    #[test]
    fn a_promise_is_true_or_false() {
        let mut given = Info::default();
        given.set(b"mpi_assert_exact_length", b"maybe");
        assert!(valid(&given).unwrap_err().text().contains("\"maybe\""));
    }
}
