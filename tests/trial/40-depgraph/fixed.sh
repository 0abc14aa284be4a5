#!/bin/sh
cd "$(dirname "$0")"
exec ./target/release/depgraph_fixed
