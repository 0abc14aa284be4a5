#!/bin/sh
cd "$(dirname "$0")"
exec ./wantlist_fixed
