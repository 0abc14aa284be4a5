#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
rustc --edition 2021 -O -g -o gpxexport gpxexport.rs
rustc --edition 2021 -O -g -o gpxexport_fixed gpxexport_fixed.rs
