#!/bin/sh
set -e
cd "$(dirname "$0")"
rustc --edition 2021 -O -g -o symorder symorder.rs
rustc --edition 2021 -O -g -o symorder_fixed symorder_fixed.rs
