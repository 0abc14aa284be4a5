#!/bin/sh
cd "$(dirname "$0")"
exec ./pkglint_fixed
