#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -o bin/shardd ./shardd
go build -o bin/report ./report
go build -o bin/report_fixed ./report_fixed
