#!/bin/sh
cd "$(dirname "$0")"
exec ./rowexport_fixed
