#!/bin/sh
cd "$(dirname "$0")"
exec ./livepeer_fixed
