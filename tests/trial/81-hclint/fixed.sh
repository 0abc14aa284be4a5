#!/bin/sh
cd "$(dirname "$0")"
exec ./hclint_fixed
