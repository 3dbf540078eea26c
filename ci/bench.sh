#!/usr/bin/env bash
# What a hand-over and a message cost beside the peers, how well plans are made, how fast the simulator is. Each bench writes into its own folder.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python benches/stream-overhead/run.py "$@"
for bench in latency bandwidth collectives crowded startup memory pack profile; do
    .venv/bin/python "benches/mpi-$bench/run.py"
done
cargo run --quiet --release -p cellweave-plan --example planning -- benches/planning
.venv/bin/python benches/simulator/run.py
