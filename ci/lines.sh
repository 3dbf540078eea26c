#!/usr/bin/env bash
# Lines of Rust, Python and C have at most 120 characters, comments included.
set -euo pipefail
cd "$(dirname "$0")/.."
files=('*.rs' '*.py' '*.pyi' '*.c' '*.h')
long=$(git ls-files -z "${files[@]}" | LC_ALL=C.UTF-8 xargs -0 grep -nHE '.{121}' || true)
if [[ -n $long ]]; then
    printf '%s\n' "lines longer than 120 characters:" "$long" >&2
    exit 1
fi
