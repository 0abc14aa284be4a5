#!/bin/sh
set -e
cd "$(dirname "$0")"
export GO111MODULE=off
go build -o edgegzip edgegzip.go
go build -o edgegzip_fixed edgegzip_fixed.go
