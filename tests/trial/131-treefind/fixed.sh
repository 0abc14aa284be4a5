#!/bin/sh
cd "$(dirname "$0")"
exec ./treefind_fixed
