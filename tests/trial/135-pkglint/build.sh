#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
GO111MODULE=off go build -o pkglint pkglint.go
GO111MODULE=off go build -o pkglint_fixed pkglint_fixed.go
