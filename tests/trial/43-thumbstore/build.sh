#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o thumbstore thumbstore.c -pthread
gcc -O2 -g -o thumbstore_fixed thumbstore_fixed.c -pthread
