//! Compiles the stages that all contenders share, with the flags that all contenders use.

fn main() {
    println!("cargo::rerun-if-changed=../stage.c");
    println!("cargo::rerun-if-changed=../stage.h");
    cc::Build::new().file("../stage.c").opt_level(3).flag("-march=native").compile("stage");
}
