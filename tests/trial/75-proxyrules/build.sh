#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -p 1 -o proxyrules proxyrules.go
go build -p 1 -o proxyrules_fixed proxyrules_fixed.go
