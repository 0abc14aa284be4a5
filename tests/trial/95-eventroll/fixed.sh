#!/bin/sh
cd "$(dirname "$0")"
exec ./eventroll_fixed
