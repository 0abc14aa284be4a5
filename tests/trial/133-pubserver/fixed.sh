#!/bin/sh
cd "$(dirname "$0")"
exec ./pubserver_fixed
