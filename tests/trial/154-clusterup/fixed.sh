#!/bin/sh
cd "$(dirname "$0")"
exec ./clusterup_fixed
