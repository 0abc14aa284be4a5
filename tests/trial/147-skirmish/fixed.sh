#!/bin/sh
cd "$(dirname "$0")"
exec ./skirmish_fixed
