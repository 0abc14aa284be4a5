#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o topicd topicd.c
gcc -O2 -g -o topicd_fixed topicd_fixed.c
