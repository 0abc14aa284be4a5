#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o strtab strtab.c
gcc -O2 -g -o strtab_fixed strtab_fixed.c
