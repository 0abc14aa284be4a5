#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o logship logship.c
gcc -O2 -g -o logship_fixed logship_fixed.c
