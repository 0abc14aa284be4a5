#!/bin/sh
set -e
cd "$(dirname "$0")"
for p in slow fixed; do g++ -std=c++17 -O2 -g -Wno-deprecated-declarations -o $p $p.cpp -lsqlite3 -lcrypto; done
