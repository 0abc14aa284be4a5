#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -C debuginfo=line-tables-only -o textindex textindex.rs
