#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o shapestat shapestat.rs
rustc --edition 2021 -O -g -o shapestat_fixed shapestat_fixed.rs
