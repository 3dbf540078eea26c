//! Patterns from files: what is read, and what is refused with which message.

use place::{Traffic, read};
use std::io::Write;
use std::path::PathBuf;

/// A file that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("cellweave-place-{}-{name}", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(text).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn found(name: &str, text: &str) -> Traffic {
    read::file(&Scratch::new(name, text.as_bytes()).0).unwrap()
}

fn refused(name: &str, text: &str) -> String {
    read::file(&Scratch::new(name, text.as_bytes()).0).unwrap_err().to_string()
}

fn flows(traffic: &Traffic) -> Vec<(usize, usize, f64)> {
    let of =
        |phase: &place::TrafficPhase| phase.flows.iter().map(|f| (f.from, f.to, f.bytes)).collect::<Vec<_>>();
    traffic.phases.iter().flat_map(of).collect()
}

#[test]
fn a_square_csv_and_one_of_blanks_are_matrices() {
    assert_eq!(
        flows(&found("a.csv", "0,1,2\n# a comment\n3,9,0\n\n0,0,0\n")),
        [(0, 1, 1.0), (0, 2, 2.0), (1, 0, 3.0)]
    );
    assert_eq!(flows(&found("a.mat", "0 1.5\n2e3\t0\n")), [(0, 1, 1.5), (1, 0, 2000.0)]);
    assert!(refused("b.csv", "0,1\n2,0\n3,4\n").contains("b.csv:3: more than 2 rows of 2 entries"));
    assert!(refused("c.csv", "0,1,2\n2,0,1\n").contains("2 rows of 3 entries: the matrix is not square"));
    assert!(refused("d.csv", "0,1\n2\n").contains("d.csv:2: row 1 has 1 entries, the ones before 2"));
    assert!(refused("e.csv", "").contains("the matrix is empty"));
    assert!(refused("f.csv", "0,-3\n0,0\n").contains("f.csv:1: row 0, column 1: -3 bytes"));
    assert!(refused("g.csv", "0,NaN\n0,0\n").contains("NaN bytes"));
    assert!(refused("h.csv", "0,x\n0,0\n").contains("\"x\" is no number"));
    assert!(refused("i.csv", "0,0\n0,0\n").contains("nobody sends anything"));
    assert!(refused("j.mat", "").contains("the matrix is empty"));
}

#[test]
fn a_csv_with_a_heading_has_phases_weights_and_memory() {
    let text = "source,destination,bytes,phase,weight\n0,1,8,halo,10\n1,0,8,halo,10\n\
                memory,1,64,load,1\n0,memory,5,load,1\n";
    let traffic = found("k.csv", text);
    assert_eq!((traffic.parts, traffic.phases.len(), traffic.phases[0].weight), (2, 2, 10.0));
    assert_eq!(traffic.phases[1].memory.len(), 2);
    assert!(refused("l.csv", "source,destination,byte\n0,1,8\n").contains("did you mean `bytes`"));
    assert!(refused("m.csv", "source,bytes\n0,8\n").contains("the column destination is missing"));
    assert!(refused("n.csv", "source,destination,bytes\n0,-1,8\n").contains("n.csv:2: \"-1\" is no part"));
    assert!(refused("o.csv", "source,destination,bytes\n0,1\n").contains("2 entries under 3 columns"));
    assert!(refused("p.csv", "source,destination,bytes\n0,99999999,8\n").contains("at most 4096"));
    assert!(refused("q.csv", "source,destination,bytes\n").contains("no line below the heading"));
    assert!(refused("r.csv", "source,destination,bytes,weight\n0,1,8,0\n").contains("weight of 0"));
}

#[test]
fn matrix_market_is_read_in_its_forms() {
    let of = |text: &str| flows(&found("a.mtx", text));
    let real = "%%MatrixMarket matrix coordinate real general\n% made\n3 3 3\n1 2 5\n3 1 2.5\n2 2 9\n";
    assert_eq!(of(real), [(0, 1, 5.0), (2, 0, 2.5)]);
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
    assert_eq!(of(pattern), [(1, 0, 1.0), (0, 1, 1.0)]);
    assert_eq!(of("%%MatrixMarket matrix array real general\n2 2\n0\n7\n3\n0\n"), [(1, 0, 7.0), (0, 1, 3.0)]);
    assert_eq!(
        of("%%MatrixMarket matrix array integer symmetric\n2 2\n0\n7\n0\n"),
        [(1, 0, 7.0), (0, 1, 7.0)]
    );
}

#[test]
fn wrong_matrix_market_is_refused_before_it_is_read() {
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let of = |text: &str| refused("b.mtx", &format!("{head}{text}"));
    assert!(
        of("20000 20000 100000000\n1 2 5\n").contains("b.mtx:2: 100000000 entries; at most 4000000 are read")
    );
    assert!(of("2 3 1\n1 2 5\n").contains("2 rows and 3 columns: the matrix is not square"));
    assert!(of("2 2 2\n1 2 5\n").contains("1 entries; the sizes say 2"));
    assert!(of("2 2 1\n1 2 5\n2 1 5\n").contains("more than the 1 entries"));
    assert!(of("2 2 1\n1 3 5\n").contains("b.mtx:3: 3 is no row or column; allowed: 1 to 2"));
    assert!(of("2 2 1\n1 2 -5\n").contains("-5 bytes"));
    assert!(of("0 0 0\n").contains("the matrix is empty"));
    assert!(
        refused("c.mtx", "%%MatrixMarket matrix coordinate complex general\n").contains("is not of the form")
    );
    assert!(refused("d.mtx", "").contains("the matrix is empty"));
}

#[test]
fn open_mpi_s_monitoring_and_cellrun_s_profile_are_read() {
    let prof = "# POINT TO POINT\nE\t0\t1\t108 bytes\t27 msgs sent\t0,27\nI\t1\t0\t12 bytes\t3 msgs sent\n\
                # COLLECTIVES\nC\t0\t99 bytes\t1 msgs sent\n";
    assert_eq!(flows(&found("a.prof", prof)), [(0, 1, 108.0), (1, 0, 12.0)]);
    assert!(refused("b.prof", "E 0 1 many bytes\n").contains("\"many\" is no number"));
    assert!(refused("c.prof", "nothing\n").contains("no line of the form"));
    let profile = r#"{"format": 1, "n": 3, "phases": [{"level": 0, "transfers": [{"source": 0, "destination": 2,
        "sizes": [{"bytes": 5, "messages": 1}, {"bytes": 7, "messages": 1}]}], "functions": []}]}"#;
    let traffic = found("a.json", profile);
    assert_eq!((flows(&traffic), traffic.silent()), (vec![(0, 2, 12.0)], vec![1]));
    assert!(refused("b.json", "{").contains("not JSON"));
    assert!(refused("c.json", "{}").contains("no profile of cellrun"));
    assert!(refused("d.json", r#"{"format": 7}"#).contains("reads profiles of format 1"));
    assert!(refused("e.json", r#"{"format": 1, "n": 2, "phases": []}"#).contains("no rank sent anything"));
}

#[test]
fn names_bytes_and_lines_that_make_no_sense_are_refused() {
    assert!(refused("a.cvs", "").contains("did you mean `csv`"));
    assert!(
        read::file(std::path::Path::new("./none.csv")).unwrap_err().to_string().starts_with("./none.csv: ")
    );
    let bytes = read::file(&Scratch::new("z.csv", b"0,\xff\n").0).unwrap_err().to_string();
    assert!(bytes.contains("z.csv:1: not UTF-8"), "{bytes}");
    let long = "1,".repeat(1 << 20);
    assert!(refused("y.csv", &long).contains("a line of more than"));
}
