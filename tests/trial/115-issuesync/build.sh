#!/bin/sh
set -e
cd "$(dirname "$0")"
GO111MODULE=off go build -o issuesync issuesync.go
GO111MODULE=off go build -o issuesync_fixed issuesync_fixed.go
