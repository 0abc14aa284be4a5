#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o history history.c
gcc -O2 -g -o history_fixed history_fixed.c
