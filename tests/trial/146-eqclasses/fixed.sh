#!/bin/sh
cd "$(dirname "$0")"
exec ./eqclasses_fixed
