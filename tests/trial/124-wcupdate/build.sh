#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o wcupdate wcupdate.c
gcc -O2 -g -o wcupdate_fixed wcupdate_fixed.c
