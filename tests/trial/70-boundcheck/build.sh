#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o boundcheck boundcheck.rs
rustc --edition 2021 -O -g -o boundcheck_fixed boundcheck_fixed.rs
