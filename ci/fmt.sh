#!/usr/bin/env bash
# Rust has the format of rustfmt.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
