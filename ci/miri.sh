#!/usr/bin/env bash
# Miri over what hands memory from one thread or one owner to another: it sees every alias, race and uninitialised read
# that a test brings about. Its own target folder: it compiles everything for itself.
set -euo pipefail
cd "$(dirname "$0")/.."

# A line per test program: its package, and its name.
tests=(
    "cellweave-host ring"
    "cellweave-run soundness"
    "cellweave-run views"
    "cellweave-transport threads"
)

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "miri: skipped, the toolchain has no Miri (rustup toolchain install nightly --component miri)"
    exit 0
fi
# Its garbage collection walks the whole memory of a job: seldom, or it takes most of the time.
export CARGO_TARGET_DIR=target/miri MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-provenance-gc=1000000"
mkdir -p "$CARGO_TARGET_DIR"
log=$CARGO_TARGET_DIR/log
for test in "${tests[@]}"; do
    read -r package name <<<"$test"
    # Miri warns of every file in /proc that is read; that is worth seeing only beside a failure.
    if ! cargo +nightly miri test --locked --quiet --package "$package" --test "$name" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
    echo "miri: $test: $(grep -o '[0-9]* passed' "$log")"
done
