#!/bin/sh
set -e
cd "$(dirname "$0")"
python3 gen.py
chmod +x slow fixed
