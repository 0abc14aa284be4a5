#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o cmdsuggest cmdsuggest.rs
rustc --edition 2021 -O -g -o cmdsuggest_fixed cmdsuggest_fixed.rs
