#!/usr/bin/env bash
# Loom explores every interleaving of the rings and of the transport's claims. It has its own target folder, because the
# flag would rebuild everything else.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --locked --quiet --release -p cellweave-host -p cellweave-transport --test loom "$@"
