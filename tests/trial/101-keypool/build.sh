#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -Wno-deprecated-declarations -o keypool keypool.c -lsqlite3 -lcrypto
gcc -O2 -g -Wno-deprecated-declarations -o keypool_fixed keypool_fixed.c -lsqlite3 -lcrypto
