#!/bin/sh
PYTHONPATH='@case@/common' PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 '@case@/@version@/add_members.py' "$@"
