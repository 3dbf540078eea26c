//! `cellrun`: starts the ranks of an MPI job on this machine.

fn main() {
    std::process::exit(launch::front::main(std::env::args_os().skip(1)))
}
