#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -p 1 -o planwalk planwalk.go
go build -p 1 -o planwalk_fixed planwalk_fixed.go
