#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o catalog catalog.c
gcc -O2 -g -o catalog_fixed catalog_fixed.c
