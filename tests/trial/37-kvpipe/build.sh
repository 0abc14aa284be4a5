#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o kvpipe kvpipe.c
gcc -O2 -g -o kvpipe_fixed kvpipe_fixed.c
