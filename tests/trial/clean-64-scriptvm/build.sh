#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -C opt-level=3 -g -o main main.rs
