#!/bin/sh
cd "$(dirname "$0")"
exec ./headpostings_fixed
