#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o tilemap tilemap.cc
g++ -O2 -g -std=c++17 -o tilemap_fixed tilemap_fixed.cc
