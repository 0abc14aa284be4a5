#!/bin/sh
cd "$(dirname "$0")"
exec ./metricsink_fixed
