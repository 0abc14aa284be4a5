#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o hookpost hookpost.cpp -lssl -lcrypto
g++ -std=c++17 -O2 -g -o hookpost_fixed hookpost_fixed.cpp -lssl -lcrypto
