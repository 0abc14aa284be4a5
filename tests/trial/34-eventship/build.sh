#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -p 1 -o eventship eventship.go
go build -p 1 -o eventship_fixed eventship_fixed.go
