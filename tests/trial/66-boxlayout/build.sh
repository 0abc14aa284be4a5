#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o boxlayout boxlayout.cc
g++ -O2 -g -std=c++17 -o boxlayout_fixed boxlayout_fixed.cc
