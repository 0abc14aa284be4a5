#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -p 1 -o podplace podplace.go
go build -p 1 -o podplace_fixed podplace_fixed.go
