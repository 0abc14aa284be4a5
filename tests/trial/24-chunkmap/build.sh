#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o chunkmap chunkmap.cpp
g++ -std=c++17 -O2 -g -o chunkmap_fixed chunkmap_fixed.cpp
