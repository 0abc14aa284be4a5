#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
gcc -O2 -g -o mapload mapload.c -lexpat -lm
gcc -O2 -g -o mapload_fixed mapload_fixed.c -lexpat -lm
