#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o checkout checkout.rs
rustc --edition 2021 -O -g -o checkout_fixed checkout_fixed.rs
