#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o authgate authgate.cc
g++ -O2 -g -std=c++17 -o authgate_fixed authgate_fixed.cc
