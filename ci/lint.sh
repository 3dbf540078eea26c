#!/usr/bin/env bash
# Every linter; goes on after a failure and fails at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=()
for step in fmt clippy ruff mypy header lines; do
    "ci/$step.sh" && echo "$step: clean" || failed+=("$step")
done
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
