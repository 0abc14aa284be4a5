#!/bin/sh
cd "$(dirname "$0")"
exec bash ./nodelist.sh
