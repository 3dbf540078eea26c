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

step rust || failed+=(rust)
# Miri is one thread for minutes: what else has to be compiled for itself goes beside it. It gets a process group, which
# ends with this script.
set -m
step miri >"$log" 2>&1 &
miri=$!
set +m
for name in loom sanitize; do
    step "$name" || failed+=("$name")
done
wait "$miri" || failed+=(miri)
miri=
cat "$log"
step python || failed+=(python)

if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
echo "all tests passed"
