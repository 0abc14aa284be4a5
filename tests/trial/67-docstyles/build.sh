#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o docstyles docstyles.cc
g++ -O2 -g -std=c++17 -o docstyles_fixed docstyles_fixed.cc
