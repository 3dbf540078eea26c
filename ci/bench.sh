#!/usr/bin/env bash
# Every bench: hand-overs and messages beside the peers, planning, the simulator. Each writes into its own folder.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python benches/stream-overhead/run.py "$@"
for bench in latency bandwidth collectives crowded startup memory pack profile; do
    .venv/bin/python "benches/mpi-$bench/run.py"
done
cargo run --quiet --release -p cellweave-plan --example planning -- benches/planning
.venv/bin/python benches/simulator/run.py
