#!/bin/sh
cd "$(dirname "$0")"
exec ./layerowners_fixed
