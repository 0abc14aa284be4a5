#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o jobqueue main.rs
rustc --edition 2021 -O -g -o jobqueue_fixed main_fixed.rs
