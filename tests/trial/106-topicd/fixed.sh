#!/bin/sh
cd "$(dirname "$0")"
exec ./topicd_fixed
