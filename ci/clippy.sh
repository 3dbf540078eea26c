#!/usr/bin/env bash
# No clippy warning anywhere; clippy.toml holds the rules of the house.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
