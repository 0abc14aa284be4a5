#!/bin/sh
set -e
cd "$(dirname "$0")"
g++ -std=c++17 -O2 -g -pthread -o accesslog accesslog.cpp
g++ -std=c++17 -O2 -g -pthread -o accesslog_fixed accesslog_fixed.cpp
