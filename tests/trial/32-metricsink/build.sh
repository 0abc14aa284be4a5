#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
g++ -O2 -g -std=c++17 -o metricsink metricsink.cc
g++ -O2 -g -std=c++17 -o metricsink_fixed metricsink_fixed.cc
