#!/bin/sh
set -e
cd "$(dirname "$0")"
for p in slow fixed; do gcc -std=gnu11 -O2 -g -Wall -Wno-format-truncation -o $p $p.c -lcrypto -lz; done
[ -s update.tx ] || python3 gen.py
