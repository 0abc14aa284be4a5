#!/bin/sh
set -e
cd "$(dirname "$0")"
GO111MODULE=off go build -o chainverify chainverify.go
