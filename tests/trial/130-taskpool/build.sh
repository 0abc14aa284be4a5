#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -pthread -o taskpool taskpool.cpp
g++ -std=c++17 -O2 -g -pthread -o taskpool_fixed taskpool_fixed.cpp
