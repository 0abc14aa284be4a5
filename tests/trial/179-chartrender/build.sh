#!/bin/sh
set -e
cd "$(dirname "$0")"
export GO111MODULE=off
go build -o chartrender chartrender.go
go build -o chartrender_fixed chartrender_fixed.go
