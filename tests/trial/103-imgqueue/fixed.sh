#!/bin/sh
cd "$(dirname "$0")"
exec ./imgqueue_fixed
