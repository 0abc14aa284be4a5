#!/bin/sh
set -e
cd "$(dirname "$0")"
go build -o mediaship mediaship.go
go build -o mediaship_fixed mediaship_fixed.go
