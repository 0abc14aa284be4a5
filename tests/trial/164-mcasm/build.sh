#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o mcasm mcasm.cpp
g++ -std=c++17 -O2 -g -o mcasm_fixed mcasm_fixed.cpp
