#!/bin/sh
cd "$(dirname "$0")"
exec ./logship_fixed
