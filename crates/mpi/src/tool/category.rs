//! Categories of variables (MPI 5.0, section 15.3.9).

use super::control::CONTROLS;
use super::performance::VARIABLES;
use super::{entry, find, put_text, running, tool};
use crate::call::{In, InOut, Out};
use std::ffi::{c_char, c_int};

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
}
