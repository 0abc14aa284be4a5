#!/bin/sh
cd "$(dirname "$0")"
exec node orderview_fixed.js
