#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -O -g -o treelist treelist.rs
rustc --edition 2021 -O -g -o treelist_fixed treelist_fixed.rs
