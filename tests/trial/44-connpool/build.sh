#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -O2 -g -std=c++17 -o connpool connpool.cc -pthread
g++ -O2 -g -std=c++17 -o connpool_fixed connpool_fixed.cc -pthread
