#!/usr/bin/env bash
# Every test, each runner with its own summary; goes on after a failure and fails at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
miri=
trap 'rm -f "$log"; [[ -z $miri ]] || kill -- "-$miri" 2>/dev/null || true' EXIT
failed=()

# One step, and how long it took.
step() {
    local start=$SECONDS code=0
    echo "== $1"
    "ci/$1.sh" || code=$?
    echo "== $1: $((SECONDS - start)) s"
    return "$code"
}

for name in rust loom sanitize; do
    step "$name" || failed+=("$name")
done
# Miri is one thread for minutes, and so is most of the Python tests. It gets a process group, which ends with this
# script.
set -m
step miri >"$log" 2>&1 &
miri=$!
set +m
step python || failed+=(python)
wait "$miri" || failed+=(miri)
miri=
cat "$log"

if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
echo "all tests passed"
