# Two commands do everything: `make demo` and `make test`. Each first sets up what is missing (see `make setup`).

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup build demo test lint unit e2e bench clean

SLOWPATH := target/release/slowpath
CARGO := cargo

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

setup: ## install what is missing (Debian packages, by apt), and say why
	@scripts/setup

build: setup ## build target/release/slowpath
	@$(CARGO) build --release --quiet -p slowpath

demo: build ## find out why a real program is slow, and look at it mended
	@scripts/demo

test: setup lint unit e2e ## every test and lint

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets --quiet -- -D warnings
	cases/common/test-countof.sh

unit:
	$(CARGO) test --release --workspace --exclude slowpath

e2e:
	$(MAKE) -s -C tests/programs
	$(CARGO) test --release -p slowpath
	$(CARGO) build --release --quiet -p slowpath
	scripts/as-root tests/foreign/run
	scripts/as-root $(SLOWPATH) cases run all

bench: build ## overhead and speed against peers, as a table
	@benches/run

clean: ## remove everything that was built
	$(CARGO) clean
	rm -rf cases/*/build tests/programs/build
