#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o depscan main.cc scanner.cc lexer.cc filesystem.cc
g++ -std=c++17 -O2 -g -o depscan_fixed main.cc scanner.cc lexer.cc filesystem_fixed.cc
