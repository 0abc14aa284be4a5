#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o lintspans lintspans.cc
g++ -O2 -g -std=c++17 -o lintspans_fixed lintspans_fixed.cc
