#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o gridroute gridroute.cpp
g++ -std=c++17 -O2 -g -o gridroute_fixed gridroute_fixed.cpp
