#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o recpack recpack.c
gcc -O2 -g -o recpack_fixed recpack_fixed.c
