#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -o sccpass sccpass.cpp constants.cpp
g++ -std=c++17 -O2 -g -o sccpass_fixed sccpass.cpp constants_fixed.cpp
