#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O3 -g -o photofilter photofilter.cpp
