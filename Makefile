# Everything a contributor types. Each target is one script or one cmake call; `make` lists them.
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
SEEDS ?= 1000000
START ?= 1

export PYTHON JOBS FUZZ_SECONDS
.DEFAULT_GOAL := help
.PHONY: help setup setup-build setup-test setup-lint setup-bench build demo test lint format fuzz bench soak simulate sabotage docs clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

setup:  ## Install every Debian 12 package that building, testing, linting and measuring need
	@tools/setup.sh build test lint bench

setup-build setup-test setup-lint setup-bench:
	@tools/setup.sh $(subst setup-,,$@)

build: setup-build  ## Build what is shipped: build/release/millstream
	@test -f build/release/build.ninja || cmake --preset release
	@ninja -C build/release -j$(JOBS) millstream

demo: build  ## Run the examples through the server and compare every reply
	@examples/demo.sh

test: setup-build setup-test  ## Run all checks and tests, lane by lane (under 30 minutes on 2 cores)
	@tools/test.sh

lint: setup-build setup-test setup-lint  ## Check format, clang-tidy, layers and that every file compiles alone
	@tools/lint.sh

format: setup-lint  ## Format the C++ sources
	@tools/lint.sh --format

fuzz: setup-build setup-bench  ## Run every fuzz target for FUZZ_SECONDS (60) each
	@tools/fuzz.sh

soak: setup-build  ## Redeploy 1,000 times under load and kill a queue manager 1,000 times: nothing is lost, nothing leaks
	@tools/soak.sh

simulate: setup-build  ## Run SEEDS (1,000,000) simulated lives of a queue manager from START (1) on
	@test -f build/debug/build.ninja || cmake --preset debug
	@ninja -C build/debug -j$(JOBS) queue_proof
	@build/debug/queue_proof simulate --seeds $(SEEDS) --start $(START)

sabotage: setup-build setup-test  ## Break each promise of the queue store and prove that the tests notice
	@tools/sabotage.sh

bench: setup-build setup-bench  ## Build and run the benchmarks
	@tools/bench.sh

docs: setup-build  ## Write the generated sources and the reference pages anew
	@$(PYTHON) tools/gen.py
	@test -f build/release/build.ninja || cmake --preset release
	@ninja -C build/release -j$(JOBS) millstream
	@build/release/millstream --command-reference > docs/reference/commands.md

clean:  ## Remove the build folder
	@rm -rf build
