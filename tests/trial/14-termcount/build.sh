#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o termcount termcount.cpp -pthread
g++ -std=c++17 -O2 -g -o termcount_fixed termcount_fixed.cpp -pthread
