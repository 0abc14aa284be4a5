#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o shapeimport shapeimport.cpp
g++ -std=c++17 -O2 -g -o shapeimport_fixed shapeimport_fixed.cpp
