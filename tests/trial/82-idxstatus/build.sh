#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -o idxstatus index.go tree.go status.go
go build -o idxstatus_fixed index_fixed.go tree.go status.go
