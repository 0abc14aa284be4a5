#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o jobgraph jobgraph.c
gcc -O2 -g -o jobgraph_fixed jobgraph_fixed.c
