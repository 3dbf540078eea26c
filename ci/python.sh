#!/usr/bin/env bash
# The Python tests: the API, the command line, floors, packaging, examples, the vocoder, the book. Two files at a time:
# many tests wait for programs that use one core.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder "$@"
