#!/bin/sh
set -e
cd "$(dirname "$0")"
for p in slow fixed; do gcc -std=gnu11 -O2 -g -Wall -o $p $p.c -lpcre2-8; done
[ -s chat.log ] || python3 gen.py
