#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o streamrelay streamrelay.c
gcc -O2 -g -o streamrelay_fixed streamrelay_fixed.c
