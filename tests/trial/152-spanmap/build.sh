#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -O -g -o spanmap spanmap.rs
rustc --edition 2021 -O -g -o spanmap_fixed spanmap_fixed.rs
