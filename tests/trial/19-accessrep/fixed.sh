#!/bin/sh
cd "$(dirname "$0")"
exec bash accessrep_fixed.sh
