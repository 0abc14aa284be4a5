#!/bin/sh
cd "$(dirname "$0")"
exec ./boxlayout_fixed
