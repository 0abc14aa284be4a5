#!/bin/sh
cd "$(dirname "$0")"
exec ./depscan_fixed
