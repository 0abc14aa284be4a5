#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o wmprops wmprops.c
gcc -O2 -g -o wmprops_fixed wmprops_fixed.c
