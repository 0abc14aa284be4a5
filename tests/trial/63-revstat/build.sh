#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o revstat revstat.c
gcc -O2 -g -o revstat_fixed revstat_fixed.c
