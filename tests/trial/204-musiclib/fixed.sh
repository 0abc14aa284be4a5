#!/bin/sh
cd "$(dirname "$0")"
exec ./fixed
