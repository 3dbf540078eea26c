#!/usr/bin/env bash
# The vocoder, from its graph to sound: profile, plan, run, report; then a tour of this computer.
set -euo pipefail
cd "$(dirname "$0")/.."
cellweave=.venv/bin/cellweave
make --quiet -C examples/vocoder
mkdir -p demo
$cellweave profile examples/vocoder/app.toml --force --quiet -o demo/app.toml
$cellweave plan demo/app.toml --on host --force -o demo/plan.json
$cellweave run demo/app.toml --plan demo/plan.json --trace demo/trace.json --force -o demo/result.json
$cellweave machine show host --force --quiet -o demo/machine.toml
$cellweave report demo/result.json demo/plan.json demo/trace.json demo/app.toml demo/machine.toml --pictures demo --force --quiet -o demo/report.html
.venv/bin/python examples/vocoder/spectrogram.py examples/vocoder/speech.wav demo/out.wav -o demo/spectrogram.png
$cellweave tour --force -o demo/tour.html
echo "look into demo/: tour.html, report.html, spectrogram.png, out.wav, trace.json for ui.perfetto.dev"
