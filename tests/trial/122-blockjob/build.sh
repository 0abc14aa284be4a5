#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o blockjob blockjob.c
gcc -O2 -g -o blockjob_fixed blockjob_fixed.c
