#!/bin/sh
cd "$(dirname "$0")"
exec ./cmdsuggest_fixed
