# Every verb sets up what it needs in .venv; `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs clean
SHELL := /bin/bash
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUST := $(shell find crates -name '*.rs' -o -name '*.c' -o -name '*.h' -o -path '*/abi/*.txt' -o -name Cargo.toml) \
	Cargo.toml Cargo.lock $(wildcard pep517/*.py pep517/scripts/*)

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-6s %s\n", $$1, $$2}' Makefile

demo: .venv/core ## profile, plan and run the vocoder on the WAV that ships; results and pictures in demo/
	@ci/demo.sh

test: .venv/core .venv/extras ## every test: Rust, loom, Miri, Python, examples, vocoder, book
	@ci/test.sh

lint: .venv/core .venv/extras ## rustfmt, clippy, ruff, mypy, the C header in C and C++
	@ci/lint.sh

bench: .venv/core .venv/extras ## what a hand-over costs, beside the peers
	@ci/bench.sh

docs: .venv/core .venv/book ## the book, as HTML in build/book
	@$(BIN)/mkdocs build --quiet --strict && echo "build/book/index.html"

clean: ## remove what the other verbs made
	rm -rf .venv demo target dist build python/cellweave/*.so python/cellweave/mpi/bin python/cellweave/mpi/lib \
		python/cellweave/mpi/include/mpi.h

# A stamp is touched last, so that a broken set-up is repeated.
.venv/tools: pyproject.toml
	@command -v cargo >/dev/null || { echo "cellweave: install Rust first: https://rustup.rs" >&2; exit 2; }
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) install 'maturin>=1.9.4,<2'
	@touch $@

# The package itself, editable; again whenever the Rust code changes.
.venv/core: .venv/tools $(RUST)
	@echo "building cellweave"
	@$(PIP) install --no-build-isolation --editable .
	@touch $@

.venv/extras: pyproject.toml | .venv/core
	@echo "setting up what the tests need"
	@$(PIP) install --no-build-isolation --editable '.[dev,exact,jit,campaign]'
	@touch $@

.venv/book: .venv/tools
	@$(PIP) install mkdocs
	@touch $@
