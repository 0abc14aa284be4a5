#!/bin/sh
cd "$(dirname "$0")"
exec ./iconres_fixed
