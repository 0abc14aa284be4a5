#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -C debuginfo=line-tables-only -o cached cached.rs
rustc --edition 2021 -O -C debuginfo=line-tables-only -o cachewarm cachewarm.rs
rustc --edition 2021 -O -C debuginfo=line-tables-only -o cachewarm_fixed cachewarm_fixed.rs
