#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -o hubrank hubrank.cpp
