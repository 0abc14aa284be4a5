#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o iconres iconres.c
gcc -O2 -g -o iconres_fixed iconres_fixed.c
