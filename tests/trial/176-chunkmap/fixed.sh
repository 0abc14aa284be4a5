#!/bin/sh
cd "$(dirname "$0")"
exec ./chunkmap_fixed
