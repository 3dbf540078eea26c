//! `cellrun`: starts the ranks of an MPI job on this machine.

fn main() {
    println!("cellrun: no program");
}
