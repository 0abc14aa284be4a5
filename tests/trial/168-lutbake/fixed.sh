#!/bin/sh
cd "$(dirname "$0")"
exec ./lutbake_fixed
