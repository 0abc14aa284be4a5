#!/bin/sh
cd "$(dirname "$0")"
exec ./lockscan_fixed
