#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o ignorecheck ignorecheck.c
gcc -O2 -g -o ignorecheck_fixed ignorecheck_fixed.c
