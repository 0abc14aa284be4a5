# Two commands do everything: `make demo` and `make test`. Each first sets up what is missing (see `make setup`).

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-test build page demo test test-all lint rust c foreign unit e2e page-lint page-unit page-e2e page-bench bench gains trial corpus suites fuzz screenshots clean

SLOWPATH := target/release/slowpath
CARGO := cargo
NPM := npm --prefix page --no-audit --no-fund --no-update-notifier --loglevel=error
PAGE := page/dist/page.js
PAGE_SOURCES := $(shell find page/src -type f) page/tools/build.mjs page/package.json page/tsconfig.json
PAGE_MODULES := page/node_modules/.package-lock.json

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

setup: ## install missing Debian packages with apt, and say why
	@scripts/setup

setup-test:
	@scripts/setup test

build: setup page ## build target/release/slowpath
	@$(CARGO) build --release --quiet -p slowpath

page: $(PAGE)

# The Rust crate `page` puts this into the files that it writes.
$(PAGE): $(PAGE_SOURCES) $(PAGE_MODULES)
	@$(NPM) run --silent build

$(PAGE_MODULES): page/package-lock.json
	@$(NPM) ci >/dev/null
	@touch $@

demo: build ## find out why a real program is slow, then run the fixed version
	@scripts/demo

test: setup-test lint rust c page-unit foreign page-e2e ## every test and lint

test-all: setup-test ## the same with other sizes and on a busy machine, and more: an hour and a half (as root)
	@scripts/test-all

lint: page page-lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets --quiet -- -D warnings
	cases/common/test-countof.sh

# All crates in one command: cargo chooses the features of dependencies anew for each set of crates that it is given,
# and would build most of them twice.
rust: page
	$(MAKE) -s -C tests/programs
	$(CARGO) test --release --workspace

c: page
	crates/aead/test-c
	crates/aead/test-leaks

foreign: setup-test build
	scripts/as-root tests/foreign/run
	scripts/as-root $(SLOWPATH) cases run all

# For work on one part: what needs no other program, and the command as a user runs it.
unit: page page-unit c
	$(CARGO) test --release --workspace --exclude slowpath

e2e: page foreign
	$(MAKE) -s -C tests/programs
	$(CARGO) test --release -p slowpath

page-lint: $(PAGE_MODULES)
	$(NPM) run --silent lint

page-unit: $(PAGE_MODULES)
	$(NPM) run --silent unit

page-e2e: build
	$(NPM) run --silent e2e

page-bench: setup-test build ## how soon the page of a large recording is seen
	@node page/tools/bench.mjs

suites: build ## the test suites of Debian's sed and zlib, watched and unwatched (as root)
	@tests/suites/run

fuzz: page ## a fuzzer thinks of files and recordings, MINUTES=5 each target (nightly Rust, cargo-fuzz)
	@scripts/fuzz $(or $(MINUTES),5) $(TARGETS)

screenshots: setup-test build ## take the screenshots for the README again
	@$(NPM) run --silent screenshots

bench: build ## overhead, comparisons and AES-GCM against peers, as tables
	@benches/run
	@benches/compare
	@benches/aead/run

gains: build ## reported gains of small slow programs beside what their fixed versions save, as a table
	@tests/pairs/run

trial: build ## what slowpath says of programs that were not written for it, as a table
	@tests/trial/run

corpus: build ## real bugs of real libraries: how many slowpath names, as a table (builds them from the registries: an hour)
	@corpus/build && corpus/clean/check && corpus/run

clean: ## remove everything that was built
	$(CARGO) clean
	rm -rf cases/*/build tests/programs/build page/dist page/build page/node_modules
