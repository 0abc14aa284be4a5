#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o resolvd resolvd.c
gcc -O2 -g -o resolvd_fixed resolvd_fixed.c
