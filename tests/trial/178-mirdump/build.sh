#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc -O -g --edition 2021 -o mirdump mirdump.rs
rustc -O -g --edition 2021 -o mirdump_fixed mirdump_fixed.rs
