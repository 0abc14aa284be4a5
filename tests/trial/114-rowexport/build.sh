#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
GO111MODULE=off go build -o rowexport rowexport.go
GO111MODULE=off go build -o rowexport_fixed rowexport_fixed.go
