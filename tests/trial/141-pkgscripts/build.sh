#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o pkgscripts pkgscripts.c
gcc -O2 -g -o pkgscripts_fixed pkgscripts_fixed.c
