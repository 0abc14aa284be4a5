#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o targetd targetd.c
gcc -O2 -g -o walapply walapply.c
gcc -O2 -g -o walapply_fixed walapply_fixed.c
