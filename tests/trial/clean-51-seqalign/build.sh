#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o seqalign seqalign.c
