#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o eqclasses eqclasses.cpp
g++ -std=c++17 -O2 -g -o eqclasses_fixed eqclasses_fixed.cpp
