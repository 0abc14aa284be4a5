#!/bin/sh
set -e
cd "$(dirname "$0")"
go build -o clusterup clusterup.go
go build -o clusterup_fixed clusterup_fixed.go
