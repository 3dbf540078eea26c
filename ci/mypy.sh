#!/usr/bin/env bash
# The Python package is typed, strictly.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/mypy --no-error-summary
