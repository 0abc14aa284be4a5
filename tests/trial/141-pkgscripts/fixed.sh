#!/bin/sh
cd "$(dirname "$0")"
exec ./pkgscripts_fixed
