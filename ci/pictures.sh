#!/usr/bin/env bash
# Draws the pictures of README and book again, with the tool itself. Run `make demo` first.
set -euo pipefail
cd "$(dirname "$0")/.."
cp demo/app-mapping.png docs/pictures/vocoder.png
cp demo/trace-timeline.png docs/pictures/timeline.png
.venv/bin/python ci/pages.py demo/report.html docs/pictures/report.png 1024 1500
.venv/bin/python ci/pages.py demo/report.html docs/pictures/report-phone.png 390 1500 dark
.venv/bin/python ci/pages.py demo/tour.html docs/pictures/tour.png 1024 1500
.venv/bin/cellweave plan demo/app.toml --on qs22 -o demo/cell-plan.json --force --quiet
.venv/bin/cellweave run demo/app.toml --on qs22 --plan demo/cell-plan.json -o demo/cell.json --force --quiet
.venv/bin/cellweave report demo/cell.json demo/cell-plan.json demo/result.json demo/plan.json demo/app.toml -o demo/columns.html --force --quiet
.venv/bin/python ci/pages.py demo/columns.html docs/pictures/columns.png 1024 1500
.venv/bin/python -c "import cellweave; cellweave.Result.load('demo/cell.json').plot(what='floorplan').savefig('docs/pictures/floorplan.png', dpi=100)"
cp demo/plan-contributions.png docs/pictures/contributions.png
.venv/bin/python -c "import cellweave; cellweave.Result.load('demo/result.json').plot(what='beside').savefig('docs/pictures/beside.png', dpi=144)"
.venv/bin/cellweave machine show qs22 --picture docs/pictures/qs22.png --force --quiet
.venv/bin/cellweave machine show host --picture docs/pictures/host.png --force --quiet
.venv/bin/cellweave machine show crates/machine/tests/computers/two-cpus-large-l3.toml --picture docs/pictures/handovers.png --force --quiet
.venv/bin/cellweave probe --on ps3 --pattern memory-read --size 16..16k --buffers 1 --spes 1..6 --plot docs/pictures/probe-memory.png --force --quiet
.venv/bin/cellweave probe --on qs22 --pattern all-pairs --plot docs/pictures/probe-pairs.png --force --quiet
.venv/bin/cellweave probe --plot docs/pictures/probe-host.png --force --quiet
.venv/bin/cellweave place ring --on cell --objective rings --plot docs/pictures/placing.png --force --quiet
.venv/bin/python ci/inside.py
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
.venv/bin/cellweave generate paper250 --to "$found/set" --quiet
draw='import sys, cellweave; cellweave.Graph.load(sys.argv[1]).plot().savefig(sys.argv[2], dpi=80)'
.venv/bin/python -c "$draw" "$found/set/daggen-102-seed58-ccr0.01.toml" docs/pictures/graph-204-edges.png
.venv/bin/python -c "$draw" "$found/set/daggen-135-seed25-ccr0.01.toml" docs/pictures/graph-135-tasks.png
.venv/bin/cellweave reproduce buffered-mpi/mat-vec --pictures "$found" --force --quiet
cp "$found/buffered-mpi-mat-vec.png" docs/pictures/mat-vec.png
rows=()
for name in sixteen alone scaling-part; do rows+=(--campaign "benches/scheduler-paper/$name.csv"); done
.venv/bin/cellweave reproduce streaming-schedule affinity-model "${rows[@]}" --pictures "$found" --force --quiet
cp "$found/published.png" docs/pictures/reproduced.png
cp "$found/streaming-schedule-fig-4.png" docs/pictures/reproduced-random.png
cp "$found/streaming-schedule-table-2.png" docs/pictures/scheduling-table-2.png
cp "$found/streaming-schedule-fig-12-0.1.png" docs/pictures/scheduling-fig-12.png
cp "$found/streaming-schedule-fig-13b.png" docs/pictures/scheduling-fig-13b.png
for figure in fig-10 table-3 fig-13a; do
    cp "$found/streaming-schedule-$figure.png" "docs/pictures/scheduling-$figure.png"
done
cp "$found/affinity-model-fig-2-1.png" docs/pictures/affinities.png
