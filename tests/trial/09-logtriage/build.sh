#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o logtriage logtriage.c -lpcre2-8
gcc -O2 -g -o logtriage_fixed logtriage_fixed.c -lpcre2-8
