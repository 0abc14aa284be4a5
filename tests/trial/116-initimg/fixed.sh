#!/bin/sh
cd "$(dirname "$0")"
exec ./mkimage_fixed.sh
