#!/bin/sh
# Builds the project that stands beside this script in the folder of-NAME, from nothing, and runs its programs.
set -eu
cd "$(dirname "$0")/of-$(basename "$0")"
# Whoever runs us may be a make of its own.
unset MAKEFLAGS MFLAGS MAKELEVEL
rm -f ./*.o shapes glyphs
make -s -j2
./shapes
./glyphs
