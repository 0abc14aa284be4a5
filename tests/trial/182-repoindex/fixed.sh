#!/bin/sh
cd "$(dirname "$0")"
exec ./repoindex_fixed
