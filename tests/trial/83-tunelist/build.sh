#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o tunelist main.c library.c model.c template.c $(pkg-config --cflags --libs sqlite3)
gcc -O2 -g -o tunelist_fixed main.c library_fixed.c model_fixed.c template.c $(pkg-config --cflags --libs sqlite3)
