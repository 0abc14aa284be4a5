#!/bin/sh
set -e
cd "$(dirname "$0")"
export GO111MODULE=off
go build -o clientpool clientpool.go
go build -o clientpool_fixed clientpool_fixed.go
