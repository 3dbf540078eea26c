#!/usr/bin/env bash
# Every test, each runner with its own summary; goes on after a failure and fails at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
logs=$(mktemp -d)
declare -A beside=()
trap 'rm -rf "$logs"; for group in "${beside[@]}"; do kill -- "-$group" 2>/dev/null || true; done' EXIT
failed=()

# One step, and how long it took.
step() {
    local start=$SECONDS code=0
    echo "== $1"
    "ci/$1.sh" || code=$?
    echo "== $1: $((SECONDS - start)) s"
    return "$code"
}

# Loom and Miri compile everything for themselves, and Miri is one thread for minutes, while other tests often wait for
# one core: they go beside them. Each gets a process group, which ends with this script.
set -m
for name in loom miri; do
    step "$name" >"$logs/$name" 2>&1 &
    beside[$name]=$!
done
set +m
for name in rust sanitize; do
    step "$name" || failed+=("$name")
done
for name in "${!beside[@]}"; do
    wait "${beside[$name]}" || failed+=("$name")
    unset "beside[$name]"
    cat "$logs/$name"
done
step python || failed+=(python)

if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
echo "all tests passed"
