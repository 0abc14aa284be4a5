#!/bin/sh
cd "$(dirname "$0")"
exec ./revstat_fixed
