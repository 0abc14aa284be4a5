#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o feedparse feedparse.cpp
g++ -std=c++17 -O2 -g -o feedparse_fixed feedparse_fixed.cpp
