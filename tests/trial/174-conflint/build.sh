#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc -O -g --edition 2021 -o conflint conflint.rs
rustc -O -g --edition 2021 -o conflint_fixed conflint_fixed.rs
