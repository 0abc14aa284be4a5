#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o stocksync stocksync.c -lsqlite3
gcc -O2 -g -o stocksync_fixed stocksync_fixed.c -lsqlite3
