#!/bin/sh
cd "$(dirname "$0")"
exec ./podplace_fixed
