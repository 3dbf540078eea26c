//! Categories of variables, and the enumerations that some of them have as values (MPI 5.0, sections 15.3.5 and
//! 15.3.9).

use super::control::CONTROLS;
use super::performance::VARIABLES;
use super::{entry, find, put_text, running, tool};
use crate::abi::values::{MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_ITEM};
use crate::call::{In, InOut, Out};
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

tool! {
    fn PMPI_T_category_get_num(num_cat: Out<c_int>) {
        let _tool = running()?;
        num_cat.offer(CATEGORIES.len() as c_int);
        Ok(())
    }

    fn PMPI_T_category_get_info(
        cat_index: c_int, name: Out<c_char>, name_len: InOut<c_int>, desc: Out<c_char>, desc_len: InOut<c_int>,
        num_cvars: Out<c_int>, num_pvars: Out<c_int>, num_categories: Out<c_int>,
    ) {
        let _tool = running()?;
        let category = entry(CATEGORIES, cat_index)?;
        put_text(category.name, name, name_len);
        put_text(category.description, desc, desc_len);
        num_cvars.offer((category.controls)().len() as c_int);
        num_pvars.offer((category.variables)().len() as c_int);
        num_categories.offer(0);
        Ok(())
    }

    fn PMPI_T_category_get_index(name: In<c_char>, cat_index: Out<c_int>) {
        let _tool = running()?;
        cat_index.offer(find(CATEGORIES, name, |category, name| category.name == name)?);
        Ok(())
    }

    fn PMPI_T_category_get_num_events(cat_index: c_int, num_events: Out<c_int>) {
        let _tool = running()?;
        entry(CATEGORIES, cat_index)?;
        num_events.offer(0);
        Ok(())
    }

    fn PMPI_T_category_get_cvars(cat_index: c_int, len: c_int, indices[len]: Out<c_int>) {
        let _tool = running()?;
        let found = (entry(CATEGORIES, cat_index)?.controls)();
        // A caller that passes no place wants no indices.
        let _ = indices.write(found);
        Ok(())
    }

    fn PMPI_T_category_get_pvars(cat_index: c_int, len: c_int, indices[len]: Out<c_int>) {
        let _tool = running()?;
        let found = (entry(CATEGORIES, cat_index)?.variables)();
        // A caller that passes no place wants no indices.
        let _ = indices.write(found);
        Ok(())
    }

    fn PMPI_T_category_get_categories(cat_index: c_int, _len: c_int, _indices: Out<c_int>) {
        let _tool = running()?;
        entry(CATEGORIES, cat_index).map(|_| ())
    }

    fn PMPI_T_category_get_events(cat_index: c_int, _len: c_int, _indices: Out<c_int>) {
        let _tool = running()?;
        entry(CATEGORIES, cat_index).map(|_| ())
    }

    fn PMPI_T_category_changed(update_number: Out<c_int>) {
        let _tool = running()?;
        // Categories never change.
        update_number.offer(0);
        Ok(())
    }

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
