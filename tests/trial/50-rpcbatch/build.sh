#!/bin/sh
set -e
cd "$(dirname "$0")"
gcc -O2 -g -o rpcbatch rpcbatch.c
gcc -O2 -g -o rpcbatch_fixed rpcbatch_fixed.c
