#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o loopopt loopopt.cpp
g++ -std=c++17 -O2 -g -o loopopt_fixed loopopt_fixed.cpp
