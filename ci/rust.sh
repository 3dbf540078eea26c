#!/usr/bin/env bash
# Unit, property and documentation tests of every crate.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --workspace --locked --quiet "$@"
