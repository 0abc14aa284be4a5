#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o sheetpage sheetpage.cc
g++ -O2 -g -std=c++17 -o sheetpage_fixed sheetpage_fixed.cc
