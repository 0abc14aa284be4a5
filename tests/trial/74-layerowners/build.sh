#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -p 1 -o layerowners layerowners.go
go build -p 1 -o layerowners_fixed layerowners_fixed.go
