//! `Graph` -> TOML, JSON.
