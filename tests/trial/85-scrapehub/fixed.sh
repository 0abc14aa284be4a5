#!/bin/sh
cd "$(dirname "$0")"
exec ./scrapehub_fixed
