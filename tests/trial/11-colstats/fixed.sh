#!/bin/sh
cd "$(dirname "$0")"
exec ./colstats_fixed
