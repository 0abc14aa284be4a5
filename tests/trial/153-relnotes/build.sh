#!/bin/sh
set -e
cd "$(dirname "$0")"
go build -o relnotes relnotes.go
go build -o relnotes_fixed relnotes_fixed.go
