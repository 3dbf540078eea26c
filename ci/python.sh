#!/usr/bin/env bash
# The Python tests: the API, the command line, floors, packaging, examples, the vocoder, the book.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python -m pytest "$@"
