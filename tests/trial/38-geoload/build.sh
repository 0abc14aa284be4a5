#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o geoload geoload.c -lm
gcc -O2 -g -o geoload_fixed geoload_fixed.c -lm
