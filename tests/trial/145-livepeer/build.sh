#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o livepeer livepeer.c
gcc -O2 -g -o livepeer_fixed livepeer_fixed.c
