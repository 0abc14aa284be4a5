#!/bin/sh
set -e
cd "$(dirname "$0")"
go build -o lockscan lockscan.go
go build -o lockscan_fixed lockscan_fixed.go
