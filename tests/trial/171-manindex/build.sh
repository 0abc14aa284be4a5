#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o manindex manindex.c -lz
gcc -O2 -g -o manindex_fixed manindex_fixed.c -lz
