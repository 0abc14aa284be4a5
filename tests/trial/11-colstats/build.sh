#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o colstats colstats.c -lm
gcc -O2 -g -o colstats_fixed colstats_fixed.c -lm
