#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o pubserver pubserver.rs
rustc --edition 2021 -O -g -o pubserver_fixed pubserver_fixed.rs
