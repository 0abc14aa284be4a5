#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o bundle bundle.c
gcc -O2 -g -o bundle_fixed bundle_fixed.c
