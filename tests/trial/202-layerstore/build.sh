#!/bin/sh
set -e
cd "$(dirname "$0")"
python3 gen.py
go build -o slow slow.go
go build -o fixed fixed.go
