#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc -O -g --edition 2021 -o unitgraph unitgraph.rs
rustc -O -g --edition 2021 -o unitgraph_fixed unitgraph_fixed.rs
