#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -std=gnu11 -O2 -g -Wall -o main main.c
[ -s proteins.fa ] || python3 gen.py
