#!/usr/bin/env bash
# The C headers compile alone, without a warning, as C and as C++.
set -euo pipefail
cd "$(dirname "$0")/.."
for header in python/cellweave/include/cellweave.h python/cellweave/mpi/include/mpi.h; do
    for standard in c99 c11; do
        gcc -std=$standard -Wall -Wextra -Werror -pedantic -fsyntax-only -x c "$header"
    done
    for standard in c++11 c++17; do
        g++ -std=$standard -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ "$header"
    done
done
