#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc -O -g --edition 2021 -o treeindex treeindex.rs
rustc -O -g --edition 2021 -o treeindex_fixed treeindex_fixed.rs
