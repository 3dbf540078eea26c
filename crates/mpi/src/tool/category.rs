//! Categories of variables, and the enumerations that some of them have as values (MPI 5.0, sections 15.3.5 and 15.3.9).

use super::control::CONTROLS;
use super::performance::VARIABLES;
use super::{entry, find, put, put_text, running, tool};
use crate::abi::values::{MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_ITEM};
use std::ffi::{c_char, c_int};

/// Values that have names; its handle is its address.
pub(super) struct Enumeration {
    name: &'static str,
    items: &'static [(c_int, &'static str)],
}

/// Switches.
pub(super) static ON_OFF: Enumeration = Enumeration { name: "switch", items: &[(0, "off"), (1, "on")] };
/// Who moves messages.
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

/// Variables that belong together.
struct Category {
    name: &'static str,
    description: &'static str,
    controls: fn() -> Vec<c_int>,
    variables: fn() -> Vec<c_int>,
}

static CATEGORIES: &[Category] = &[
    Category {
        name: "settings",
        description: "What the environment sets at MPI_Init, and limits that are fixed.",
        controls: || (0..CONTROLS.len() as c_int).collect(),
        variables: Vec::new,
    },
    Category {
        name: "traffic",
        description: "Messages and bytes that this rank sent and received.",
        controls: Vec::new,
        variables: || variables_of("traffic"),
    },
    Category {
        name: "matching",
        description: "Queues of posted receives and unexpected messages.",
        controls: Vec::new,
        variables: || variables_of("matching"),
    },
];

fn variables_of(category: &str) -> Vec<c_int> {
    let of = |index: &usize| VARIABLES[*index].category == category;
    (0..VARIABLES.len()).filter(of).map(|index| index as c_int).collect()
}

/// Writes the first `len` of some indices.
///
/// # Safety
/// `indices` is null or has `len` places.
unsafe fn put_indices(found: &[c_int], len: c_int, indices: *mut c_int) {
    if !indices.is_null() {
        for (place, &index) in found.iter().take(len.max(0) as usize).enumerate() {
            // SAFETY: `place < len`.
            unsafe { indices.add(place).write(index) };
        }
    }
}

tool! {
    fn PMPI_T_category_get_num(num_cat: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word.
        unsafe { put(num_cat, CATEGORIES.len() as c_int) };
        Ok(())
    }

    fn PMPI_T_category_get_info(
        cat_index: c_int, name: *mut c_char, name_len: *mut c_int, desc: *mut c_char, desc_len: *mut c_int,
        num_cvars: *mut c_int, num_pvars: *mut c_int, num_categories: *mut c_int,
    ) {
        let _tool = running()?;
        let category = entry(CATEGORIES, cat_index)?;
        // SAFETY: by the C caller's word.
        unsafe {
            put_text(category.name, name, name_len);
            put_text(category.description, desc, desc_len);
            put(num_cvars, (category.controls)().len() as c_int);
            put(num_pvars, (category.variables)().len() as c_int);
            put(num_categories, 0);
        }
        Ok(())
    }

    fn PMPI_T_category_get_index(name: *const c_char, cat_index: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word.
        unsafe { put(cat_index, find(CATEGORIES, name, |category, name| category.name == name)?) };
        Ok(())
    }

    fn PMPI_T_category_get_num_events(cat_index: c_int, num_events: *mut c_int) {
        let _tool = running()?;
        entry(CATEGORIES, cat_index)?;
        // SAFETY: by the C caller's word.
        unsafe { put(num_events, 0) };
        Ok(())
    }

    fn PMPI_T_category_get_cvars(cat_index: c_int, len: c_int, indices: *mut c_int) {
        let _tool = running()?;
        let found = (entry(CATEGORIES, cat_index)?.controls)();
        // SAFETY: by the C caller's word.
        unsafe { put_indices(&found, len, indices) };
        Ok(())
    }

    fn PMPI_T_category_get_pvars(cat_index: c_int, len: c_int, indices: *mut c_int) {
        let _tool = running()?;
        let found = (entry(CATEGORIES, cat_index)?.variables)();
        // SAFETY: by the C caller's word.
        unsafe { put_indices(&found, len, indices) };
        Ok(())
    }

    fn PMPI_T_category_get_categories(cat_index: c_int, _len: c_int, _indices: *mut c_int) {
        let _tool = running()?;
        entry(CATEGORIES, cat_index).map(|_| ())
    }

    fn PMPI_T_category_get_events(cat_index: c_int, _len: c_int, _indices: *mut c_int) {
        let _tool = running()?;
        entry(CATEGORIES, cat_index).map(|_| ())
    }

    fn PMPI_T_category_changed(update_number: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word. Categories never change.
        unsafe { put(update_number, 0) };
        Ok(())
    }

    fn PMPI_T_enum_get_info(enumtype: usize, num: *mut c_int, name: *mut c_char, name_len: *mut c_int) {
        let _tool = running()?;
        let found = Enumeration::of(enumtype)?;
        // SAFETY: by the C caller's word.
        unsafe {
            put(num, found.items.len() as c_int);
            put_text(found.name, name, name_len);
        }
        Ok(())
    }

    fn PMPI_T_enum_get_item(
        enumtype: usize, indx: c_int, value: *mut c_int, name: *mut c_char, name_len: *mut c_int,
    ) {
        let _tool = running()?;
        let found = Enumeration::of(enumtype)?;
        let item = entry(found.items, indx).map_err(|_| MPI_T_ERR_INVALID_ITEM)?;
        // SAFETY: by the C caller's word.
        unsafe {
            put(value, item.0);
            put_text(item.1, name, name_len);
        }
        Ok(())
    }
}
