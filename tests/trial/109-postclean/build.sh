#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o postclean postclean.cpp -lpcre2-8
g++ -std=c++17 -O2 -g -o postclean_fixed postclean_fixed.cpp -lpcre2-8
