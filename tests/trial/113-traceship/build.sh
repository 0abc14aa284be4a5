#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -O -g -o traceship traceship.rs
rustc --edition 2021 -O -g -o traceship_fixed traceship_fixed.rs
