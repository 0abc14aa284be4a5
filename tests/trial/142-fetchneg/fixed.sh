#!/bin/sh
cd "$(dirname "$0")"
exec ./fetchneg_fixed
