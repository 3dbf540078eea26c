//! Programs whose data lies in local stores (`cellrun --on MACHINE --data local`).

mod common;

use common::launch;

#[test]
fn data_in_local_stores_takes_less_time_and_arrives() {
    let program = common::compile("cell/pingpong.c");
    let [main, local] = ["main", "local"].map(|place| {
        let done = launch(&["--on", "qs20", "-n", "2", "--data", place], &program, &[]);
        let (printed, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{place}: {printed}{said}");
        let us = |line: &str| line.split(": ").nth(1)?.strip_suffix(" us")?.parse::<f64>().ok();
        printed.lines().filter_map(us).collect::<Vec<_>>()
    });
    assert!(main.len() == 8 && local.len() == 8, "{main:?} {local:?}");
    // A message without data is an entry, wherever data lies.
    assert!((main[0] - local[0]).abs() < 1e-9, "{main:?} {local:?}");
    assert!(main[1..].iter().zip(&local[1..]).all(|(main, local)| local < main), "{main:?} {local:?}");
}

#[test]
fn conformance_programs_are_right_where_data_lies_in_local_stores() {
    for name in ["status", "type_extents", "in_place"] {
        let program = common::compile(&format!("c/{name}.c"));
        let done = launch(&["--on", "qs20", "-n", "4", "--data", "local"], &program, &[]);
        let (printed, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success() && printed == format!("ok {name}\n"), "{name}: {printed}{said}");
    }
}

#[test]
fn a_program_that_does_not_fit_is_ended_with_how_much_of_what_it_needs() {
    let program = common::compile("cell/fits.c");
    for (how, told) in [
        (["message", "40000"], None),
        (["static", "0"], None),
        (["declared", "140000"], None),
        (["message", "140000"], Some("bytes of static data and 140000 bytes of messages or declared")),
        (["declared", "300000"], Some("a store of 262144 bytes has room for")),
    ] {
        for place in ["main", "local"] {
            let done = launch(&["--on", "cell", "-n", "2", "--data", place], &program, &how);
            let said = String::from_utf8_lossy(&done.stderr);
            let refused = told.filter(|_| place == "local");
            assert!(done.status.success() == refused.is_none(), "{how:?} {place}: {said}");
            assert!(said.contains(refused.unwrap_or("us simulated on cell")), "{how:?} {place}: {said}");
        }
    }
    for (words, told) in [
        (&["--data", "local"][..], "--data local: it is used with --on"),
        (&["--on", "cell", "--data", "ram"], "--data ram: allowed are main and local"),
    ] {
        let done = launch(words, &program, &["static", "0"]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && said.contains(told), "{words:?}: {said}");
    }
}
