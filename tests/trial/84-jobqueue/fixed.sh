#!/bin/sh
cd "$(dirname "$0")"
exec ./jobqueue_fixed
