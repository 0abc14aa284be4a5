#!/bin/sh
cd "$(dirname "$0")"
exec ./recpack_fixed
