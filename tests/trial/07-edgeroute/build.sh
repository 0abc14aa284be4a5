#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o edgeroute edgeroute.rs
rustc --edition 2021 -O -g -o edgeroute_fixed edgeroute_fixed.rs
