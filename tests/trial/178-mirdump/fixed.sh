#!/bin/sh
cd "$(dirname "$0")"
exec ./mirdump_fixed
