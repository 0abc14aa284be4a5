#!/bin/sh
set -e
cd "$(dirname "$0")"
export GO111MODULE=off
go build -o layerstore layerstore.go
go build -o layerstore_fixed layerstore_fixed.go
