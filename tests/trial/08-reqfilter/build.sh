#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o reqfilter reqfilter.c
gcc -O2 -g -o reqfilter_fixed reqfilter_fixed.c
