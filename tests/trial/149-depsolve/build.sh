#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -O -g -o depsolve depsolve.rs
rustc --edition 2021 -O -g -o depsolve_fixed depsolve_fixed.rs
