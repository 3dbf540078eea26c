//! The machine file of a machine: `cargo run -p cellweave-machine --example show -- qs22:ppe=1,spe=6`.

fn main() {
    let spec = std::env::args().nth(1).unwrap_or_else(|| "host".into());
    match machine::load(&spec).and_then(|machine| machine::file::to_text(&machine)) {
        Ok(text) => print!("{text}"),
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(2);
        }
    }
}
