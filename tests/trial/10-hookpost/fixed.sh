#!/bin/sh
cd "$(dirname "$0")"
exec ./hookpost_fixed
