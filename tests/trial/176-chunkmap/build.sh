#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc -O -g --edition 2021 -o chunkmap chunkmap.rs
rustc -O -g --edition 2021 -o chunkmap_fixed chunkmap_fixed.rs
