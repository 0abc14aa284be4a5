#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -std=gnu11 -O2 -g -Wall -o main main.c
if [ ! -s program.trace ]; then gcc -O2 -o gen gen.c && ./gen 8000000; fi
