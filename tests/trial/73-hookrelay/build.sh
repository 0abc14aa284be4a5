#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o hookrelay hookrelay.rs
rustc --edition 2021 -O -g -o hookrelay_fixed hookrelay_fixed.rs
