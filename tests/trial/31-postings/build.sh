#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o postings postings.c
gcc -O2 -g -o postings_fixed postings_fixed.c
