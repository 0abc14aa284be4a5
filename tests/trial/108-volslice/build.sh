#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o volslice volslice.cpp -lz
g++ -std=c++17 -O2 -g -o volslice_fixed volslice_fixed.cpp -lz
