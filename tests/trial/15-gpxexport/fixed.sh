#!/bin/sh
cd "$(dirname "$0")"
exec ./gpxexport_fixed
