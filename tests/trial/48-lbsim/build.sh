#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -p 1 -o lbsim lbsim.go
go build -p 1 -o lbsim_fixed lbsim_fixed.go
