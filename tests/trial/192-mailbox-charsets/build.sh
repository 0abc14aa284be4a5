#!/bin/sh
set -e
cd "$(dirname "$0")"
for p in slow fixed; do gcc -std=gnu11 -O2 -g -Wall -Wno-format-truncation -o $p $p.c; done
[ -s list.mbox ] || python3 gen.py
