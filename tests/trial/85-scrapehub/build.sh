#!/bin/sh
set -e
cd "$(dirname "$0")"
[ -d data ] || python3 gen.py
go build -o scrapehub main.go registry.go handler.go scraper.go store.go
go build -o scrapehub_fixed main.go registry.go handler_fixed.go scraper.go store.go
