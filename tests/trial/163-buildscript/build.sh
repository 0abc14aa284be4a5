#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o buildscript buildscript.cpp
g++ -std=c++17 -O2 -g -o buildscript_fixed buildscript_fixed.cpp
