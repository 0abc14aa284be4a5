#!/bin/sh
set -e
cd "$(dirname "$0")"
python3 gen.py
rustc --edition 2021 -C opt-level=3 -g -o slow slow.rs
rustc --edition 2021 -C opt-level=3 -g -o fixed fixed.rs
