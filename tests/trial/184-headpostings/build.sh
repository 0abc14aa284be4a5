#!/bin/sh
set -e
cd "$(dirname "$0")"
export GO111MODULE=off
go build -o headpostings headpostings.go
go build -o headpostings_fixed headpostings_fixed.go
