#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o treefind treefind.rs
rustc --edition 2021 -O -g -o treefind_fixed treefind_fixed.rs
