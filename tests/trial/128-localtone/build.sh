#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o localtone localtone.cpp
g++ -std=c++17 -O2 -g -o localtone_fixed localtone_fixed.cpp
