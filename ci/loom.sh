#!/usr/bin/env bash
# Every interleaving of the rings and of the transport's claims, explored by loom. Its own target folder: the flag would rebuild everything else.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --locked --quiet --release -p cellweave-host -p cellweave-transport --test loom "$@"
