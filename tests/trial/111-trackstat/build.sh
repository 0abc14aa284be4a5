#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o trackstat trackstat.rs
rustc --edition 2021 -O -g -o trackstat_fixed trackstat_fixed.rs
