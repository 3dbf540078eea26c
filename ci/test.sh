#!/usr/bin/env bash
# Every test, each runner with its own summary; goes on after a failure and fails at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=()
for step in rust loom miri sanitize python; do
    echo "== $step"
    start=$SECONDS
    "ci/$step.sh" || failed+=("$step")
    echo "== $step: $((SECONDS - start)) s"
done
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
echo "all tests passed"
