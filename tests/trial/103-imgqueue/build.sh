#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o imgqueue imgqueue.c
gcc -O2 -g -o imgqueue_fixed imgqueue_fixed.c
