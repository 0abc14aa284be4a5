#!/bin/sh
cd "$(dirname "$0")"
exec ./reqfilter_fixed
