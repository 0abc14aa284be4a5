#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc -O -g --edition 2021 -o depsolve depsolve.rs
rustc -O -g --edition 2021 -o depsolve_fixed depsolve_fixed.rs
