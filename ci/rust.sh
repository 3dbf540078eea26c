#!/usr/bin/env bash
# Unit, property and documentation tests of every crate; goes on after a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --workspace --locked --quiet --no-fail-fast "$@"
