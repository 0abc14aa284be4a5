#!/bin/sh
set -e
cd "$(dirname "$0")"
for p in slow fixed; do g++ -std=c++17 -O2 -g -Wall -pthread -o $p $p.cpp -lz; done
if [ ! -s sales.col ]; then gcc -O2 -o gen gen.c -lz && ./gen 230; fi
