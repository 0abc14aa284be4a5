#!/bin/sh
cd "$(dirname "$0")"
exec ./connpool_fixed
