#!/bin/sh
cd "$(dirname "$0")"
exec ./spanmap_fixed
