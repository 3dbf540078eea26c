//! The enumerations that some variables have as values (MPI 5.0, section 15.3.5).

use super::{entry, put_text, running, tool};
use crate::abi::values::{MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_ITEM};
use crate::call::{InOut, Out};
use std::ffi::{c_char, c_int};

/// Values that have names; its handle is its address.
pub(super) struct Enumeration {
    name: &'static str,
    items: &'static [(c_int, &'static str)],
}

/// Switches.
pub(super) static ON_OFF: Enumeration = Enumeration { name: "switch", items: &[(0, "off"), (1, "on")] };
/// What moves messages: calls alone, or a thread too.
pub(super) static PROGRESS: Enumeration =
    Enumeration { name: "progress", items: &[(0, "calls"), (1, "thread")] };

impl Enumeration {
    /// As C passes it.
    pub(super) fn handle(&'static self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Whether it has an item of this value.
    pub(super) fn has(&self, value: c_int) -> bool {
        self.items.iter().any(|item| item.0 == value)
    }

    fn of(handle: usize) -> Result<&'static Self, c_int> {
        [&ON_OFF, &PROGRESS]
            .into_iter()
            .find(|known| known.handle() == handle)
            .ok_or(MPI_T_ERR_INVALID_HANDLE)
    }
}

tool! {
    fn PMPI_T_enum_get_info(enumtype: usize, num: Out<c_int>, name: Out<c_char>, name_len: InOut<c_int>) {
        let _tool = running()?;
        let found = Enumeration::of(enumtype)?;
        num.offer(found.items.len() as c_int);
        put_text(found.name, name, name_len);
        Ok(())
    }

    fn PMPI_T_enum_get_item(
        enumtype: usize, indx: c_int, value: Out<c_int>, name: Out<c_char>, name_len: InOut<c_int>,
    ) {
        let _tool = running()?;
        let found = Enumeration::of(enumtype)?;
        let item = entry(found.items, indx).map_err(|_| MPI_T_ERR_INVALID_ITEM)?;
        value.offer(item.0);
        put_text(item.1, name, name_len);
        Ok(())
    }
}
