#!/bin/sh
cd "$(dirname "$0")"
exec ./hostcache_fixed
