#!/bin/sh
cd "$(dirname "$0")"
exec ./docstyles_fixed
