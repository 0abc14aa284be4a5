#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o kvserver kvserver.c
gcc -O2 -g -o kvserver_fixed kvserver_fixed.c
