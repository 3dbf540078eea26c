//! The machine file (TOML), round trip exact.
