#!/bin/sh
cd "$(dirname "$0")"
exec bash ./nodelist_fixed.sh
