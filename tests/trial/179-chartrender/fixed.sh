#!/bin/sh
cd "$(dirname "$0")"
exec ./chartrender_fixed
