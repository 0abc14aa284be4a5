#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -o latwatch latwatch.go
go build -o latwatch_fixed latwatch_fixed.go
