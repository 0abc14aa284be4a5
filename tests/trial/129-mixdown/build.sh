#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o mixdown mixdown.cpp
g++ -std=c++17 -O2 -g -o mixdown_fixed mixdown_fixed.cpp
