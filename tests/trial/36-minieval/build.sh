#!/bin/sh
set -e
cd "$(dirname "$0")"
cargo build --release --offline -q -j 1
