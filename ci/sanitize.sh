#!/usr/bin/env bash
# The C programs of the MPI library's tests, with gcc's sanitizers (addresses, leaks, undefined behaviour), on 1 to 3
# ranks; the Rust code is the same as in other tests, only the library is linked with them. Then the transport's own
# tests, compiled with Rust's address sanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/sanitize
export TREE=$target/mpi PROGRAMS=$target/programs
export SANITIZERS="-fsanitize=address,undefined -fno-sanitize-recover=all"
CC="${CC:-cc} $SANITIZERS" python3 pep517/native.py --into "$TREE" --debug
mkdir -p "$PROGRAMS"

# Compiles a program and runs it; shows its output when that is not just "ok NAME".
check() {
    local name said code
    name=$(basename "$1" .c)
    # shellcheck disable=SC2086
    "$TREE/bin/cellcc" -std=gnu11 -g1 $SANITIZERS "$1" -o "$PROGRAMS/$name" -lm -lpthread || return 1
    for ranks in 1 2 3; do
        code=0
        said=$(timeout --kill-after 5 120 "$TREE/bin/cellrun" -n $ranks "$PROGRAMS/$name" 2>&1) || code=$?
        if [[ $code != 0 || $said != "ok $name" ]]; then
            printf '%s on %d ranks: code %d\n%s\n' "$name" $ranks $code "$said" >&2
            return 1
        fi
    done
}
export -f check
printf '%s\n' crates/mpi/tests/c/*.c | xargs -P "$(nproc)" -I{} bash -c 'check {}'

# A test holds the memory of whole jobs, and a careless one reads or writes what it has freed. RUSTC_BOOTSTRAP: Rust's
# sanitizers are not stable yet.
host=$(rustc -vV | sed -n "s/^host: //p")
log=$target/transport.log
if ! RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 CARGO_TARGET_DIR=$target \
    cargo test --locked --quiet --package cellweave-transport --lib --target "$host" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
echo "sanitize: cellweave-transport: $(grep -o '[0-9]* passed' "$log")"
