#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o fontscan fontscan.cpp
g++ -std=c++17 -O2 -g -o fontscan_fixed fontscan_fixed.cpp
