#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o checkd checkd.c
gcc -O2 -g -o checkd_fixed checkd_fixed.c
