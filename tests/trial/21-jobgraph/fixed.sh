#!/bin/sh
cd "$(dirname "$0")"
exec ./jobgraph_fixed
