#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o lockplan lockplan.rs
rustc --edition 2021 -O -g -o lockplan_fixed lockplan_fixed.rs
