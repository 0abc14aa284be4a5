#!/bin/sh
set -e
cd "$(dirname "$0")"
export GO111MODULE=off
go build -o repoindex repoindex.go
go build -o repoindex_fixed repoindex_fixed.go
