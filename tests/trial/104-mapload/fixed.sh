#!/bin/sh
cd "$(dirname "$0")"
exec ./mapload_fixed
