#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -static -o scriptlet scriptlet.c
gcc -O2 -g -o pkgrun pkgrun.c
gcc -O2 -g -o pkgrun_fixed pkgrun_fixed.c
