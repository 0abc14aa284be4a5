#!/bin/sh
cd "$(dirname "$0")"
exec ./layerstore_fixed
