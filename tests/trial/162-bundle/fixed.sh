#!/bin/sh
cd "$(dirname "$0")"
exec ./bundle_fixed
