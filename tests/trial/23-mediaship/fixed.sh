#!/bin/sh
cd "$(dirname "$0")"
exec ./mediaship_fixed
