#!/bin/sh
cd "$(dirname "$0")"
exec ./feedparse_fixed
