#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o hclint main.cc parser.cc lint.cc
g++ -std=c++17 -O2 -g -o hclint_fixed main.cc parser_fixed.cc lint_fixed.cc
