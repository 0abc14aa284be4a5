#!/bin/sh
cd "$(dirname "$0")"
exec ./wmprops_fixed
