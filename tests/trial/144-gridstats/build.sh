#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o gridstats gridstats.c -lm
gcc -O2 -g -o gridstats_fixed gridstats_fixed.c -lm
