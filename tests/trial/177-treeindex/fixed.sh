#!/bin/sh
cd "$(dirname "$0")"
exec ./treeindex_fixed
