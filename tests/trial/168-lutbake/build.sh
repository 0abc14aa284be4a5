#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o lutbake lutbake.cpp -pthread
g++ -std=c++17 -O2 -g -o lutbake_fixed lutbake_fixed.cpp -pthread
