#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -D_GNU_SOURCE -o rulegate main.c regex_cache.c rules.c request.c match.c $(pkg-config --cflags --libs libpcre2-8)
gcc -O2 -g -D_GNU_SOURCE -o rulegate_fixed main_fixed.c regex_cache.c rules.c request.c match.c $(pkg-config --cflags --libs libpcre2-8)
