#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o towers towers.cpp
g++ -std=c++17 -O2 -g -o towers_fixed towers_fixed.cpp
