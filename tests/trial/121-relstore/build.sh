#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o relstore relstore.c
gcc -O2 -g -o relstore_fixed relstore_fixed.c
