#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o ziplist ziplist.rs
rustc --edition 2021 -O -g -o ziplist_fixed ziplist_fixed.rs
