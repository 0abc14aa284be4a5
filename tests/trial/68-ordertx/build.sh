#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o ordertx ordertx.cc -pthread
g++ -O2 -g -std=c++17 -o ordertx_fixed ordertx_fixed.cc -pthread
