#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -o hostcache hostcache.go
go build -o hostcache_fixed hostcache_fixed.go
