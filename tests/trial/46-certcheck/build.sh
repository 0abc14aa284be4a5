#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o certcheck certcheck.c -lssl -lcrypto
gcc -O2 -g -o certcheck_fixed certcheck_fixed.c -lssl -lcrypto
