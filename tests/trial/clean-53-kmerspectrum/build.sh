#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -O -g -o kmerspectrum kmerspectrum.rs
