#!/bin/sh
cd "$(dirname "$0")"
exec ./mixdown_fixed
