#!/bin/sh
cd "$(dirname "$0")"
exec ./buildscript_fixed
