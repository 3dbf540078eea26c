#!/usr/bin/env bash
# What a hand-over costs, beside the peers, and how well plans are made. Each bench writes its results into its own folder.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python benches/stream-overhead/run.py "$@"
cargo run --quiet --release -p cellweave-plan --example planning -- benches/planning
