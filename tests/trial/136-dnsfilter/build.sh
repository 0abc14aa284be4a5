#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
GO111MODULE=off go build -o dnsfilter dnsfilter.go
GO111MODULE=off go build -o dnsfilter_fixed dnsfilter_fixed.go
