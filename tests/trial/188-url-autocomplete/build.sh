#!/bin/sh
set -e
cd "$(dirname "$0")"
for p in slow fixed; do g++ -std=c++17 -O2 -g -Wall -o $p $p.cpp; done
[ -s history.tsv ] && [ -s queries.txt ] || python3 gen.py
