#!/usr/bin/env bash
# Every bench: hand-overs, messages, measurements, predictions, planning, the simulator. Each writes into its own folder.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python benches/stream-overhead/run.py "$@"
for bench in latency bandwidth collectives startup memory pack profile; do
    .venv/bin/python "benches/mpi-$bench/run.py"
done
.venv/bin/python benches/fit/run.py
.venv/bin/python benches/probe/run.py
.venv/bin/python benches/truth/run.py
for example in planning optimum scale periods; do
    cargo run --quiet --release -p cellweave-plan --example "$example" -- benches/planning
done
cargo run --quiet --release -p cellweave-place --example placement -- benches/placement "${GMAP:-}"
.venv/bin/python benches/simulator/run.py
