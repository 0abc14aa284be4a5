#!/bin/sh
cd "$(dirname "$0")"
exec ./postings_fixed
