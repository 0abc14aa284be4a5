#!/bin/sh
cd "$(dirname "$0")"
exec ./taskpool_fixed
