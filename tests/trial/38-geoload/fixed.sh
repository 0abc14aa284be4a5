#!/bin/sh
cd "$(dirname "$0")"
exec ./geoload_fixed
