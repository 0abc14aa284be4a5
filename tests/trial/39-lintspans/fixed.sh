#!/bin/sh
cd "$(dirname "$0")"
exec ./lintspans_fixed
