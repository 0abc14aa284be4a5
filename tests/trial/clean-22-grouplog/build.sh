#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -std=c++17 -O2 -g -pthread -o grouplog grouplog.cpp
