#!/bin/sh
set -e
cd "$(dirname "$0")"
GO111MODULE=off go build -o apiinfo apiinfo.go
GO111MODULE=off go build -o apiinfo_fixed apiinfo_fixed.go
