#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o skirmish skirmish.cpp
g++ -std=c++17 -O2 -g -o skirmish_fixed skirmish_fixed.cpp
