#!/usr/bin/env bash
# cellweave.h compiles alone, without a warning, as C and as C++.
set -euo pipefail
cd "$(dirname "$0")/.."
header=python/cellweave/include/cellweave.h
gcc -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c "$header"
g++ -std=c++17 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ "$header"
