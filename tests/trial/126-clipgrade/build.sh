#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o clipgrade clipgrade.c
gcc -O2 -g -o clipgrade_fixed clipgrade_fixed.c
