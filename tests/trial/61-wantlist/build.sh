#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o wantlist wantlist.c
gcc -O2 -g -o wantlist_fixed wantlist_fixed.c
