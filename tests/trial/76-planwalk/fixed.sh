#!/bin/sh
cd "$(dirname "$0")"
exec ./planwalk_fixed
