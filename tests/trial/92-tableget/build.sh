#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o tableget tableget.c
gcc -O2 -g -o tableget_fixed tableget_fixed.c
