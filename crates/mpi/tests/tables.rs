//! The tables of the ABI, as the build reads them.
#![allow(dead_code, reason = "the build uses the rest")]

#[path = "../build/rust.rs"]
mod rust;
#[path = "../build/table.rs"]
mod table;

use table::Tables;

/// The tables with other functions.
fn tables(functions: &str) -> Result<Tables, String> {
    let read = |name: &str| std::fs::read_to_string(format!("{}/abi/{name}", env!("CARGO_MANIFEST_DIR")));
    Tables::of(functions, &read("callbacks.txt").expect("a table"), &read("constants.txt").expect("a table"))
}

/// The type of a function that takes these parameters.
fn typed(parameters: &str) -> Result<String, String> {
    let made = rust::prototypes(&tables(&format!("int MPI_X({parameters})"))?)?;
    let line = made.lines().find(|line| line.starts_with("pub type PMPI_X")).expect("its type");
    let kinds = line.strip_prefix("pub type PMPI_X = unsafe extern \"C\" fn(");
    Ok(kinds.and_then(|kinds| kinds.strip_suffix(") -> c_int;")).expect("a type").to_owned())
}

#[test]
fn c_types_become_the_rust_types_of_their_width() {
    for (c, rust) in [
        ("void", ""),
        ("const void *buf, MPI_Count count, MPI_Datatype datatype", "*const c_void, Count, Datatype"),
        ("const int level, ...", "c_int"),
        ("MPI_Offset offset, MPI_Aint disp, MPI_Status *status", "i64, Aint, *mut Status"),
        ("int ranges[][3], const MPI_Aint displs[]", "*mut [c_int; 3], *const Aint"),
        ("char ***argv, char **array_of_argv[]", "*mut *mut *mut c_char, *mut *mut *mut c_char"),
        (
            "MPI_User_function *user_fn, MPI_T_event_cb_function f",
            "Option<MPI_User_function>, Option<MPI_T_event_cb_function>",
        ),
        // MPI_COMM_DUP_FN is a number.
        ("MPI_Comm_copy_attr_function *copy, MPI_T_enum *enumtype", "Handle, *mut Handle"),
    ] {
        assert_eq!(typed(c).as_deref(), Ok(rust), "{c}");
    }
}

#[test]
fn a_row_that_cannot_be_read_is_told_with_its_line_and_what_is_allowed() {
    for (row, told) in [
        (
            "int MPI_X(int",
            "abi/functions.txt, line 2: `int MPI_X(int` is no declaration; allowed is `TYPE MPI_NAME(",
        ),
        ("int MPI_X(int *)", "abi/functions.txt, line 2: `int *` is no parameter; allowed is `TYPE NAME`"),
        ("int MPI_X(void) | never", "abi/functions.txt, line 2: `never` is no note; allowed are `deprecated"),
    ] {
        let failed = tables(&format!("[Chapter]\n{row}\n")).err().expect("an error");
        assert!(failed.starts_with(told), "{failed}");
    }
    assert_eq!(typed("MPI_Nothing nothing").unwrap_err(), "MPI_X: `MPI_Nothing` is no type of the ABI");
}

#[test]
fn a_function_that_is_unsupported_gives_null_handles_unless_it_ends_an_object() {
    let rows = "int MPI_Win_start(const MPI_Comm *comm, MPI_Win *win) | unsupported, deprecated 5.0\n\
                int MPI_Win_free(MPI_Win *win) | unsupported\n\
                int MPI_Win_wait(MPI_Win win)";
    let made = rust::unsupported(&tables(rows).expect("tables")).expect("functions");
    let lines: Vec<_> = made.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "unsupported! {",
            "PMPI_Win_start(comm: *const Comm, win: *mut Win) win = Win(MPI_WIN_NULL);",
            "PMPI_Win_free(win: *mut Win);",
            "}"
        ]
    );
}
