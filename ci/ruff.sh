#!/usr/bin/env bash
# Python has no warning of ruff, and its format.
set -euo pipefail
cd "$(dirname "$0")/.."
paths=(python pep517 tests examples benches ci)
.venv/bin/ruff check --quiet "${paths[@]}"
.venv/bin/ruff format --quiet --check "${paths[@]}"
