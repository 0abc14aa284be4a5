#!/bin/sh
cd "$(dirname "$0")"
exec ./unitgraph_fixed
