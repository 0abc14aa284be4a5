#!/bin/sh
cd "$(dirname "$0")"
exec ./catalog_fixed
