#!/bin/sh
cd "$(dirname "$0")"
exec ./shapestat_fixed
