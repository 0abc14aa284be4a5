#!/bin/sh
cd "$(dirname "$0")"
exec ./tilemap_fixed
