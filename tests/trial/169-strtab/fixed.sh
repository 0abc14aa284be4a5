#!/bin/sh
cd "$(dirname "$0")"
exec ./strtab_fixed
