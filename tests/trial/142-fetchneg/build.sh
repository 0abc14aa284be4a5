#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o fetchneg fetchneg.c
gcc -O2 -g -o fetchneg_fixed fetchneg_fixed.c
