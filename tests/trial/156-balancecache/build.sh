#!/bin/sh
set -e
cd "$(dirname "$0")"
go build -o balancecache balancecache.go
go build -o balancecache_fixed balancecache_fixed.go
