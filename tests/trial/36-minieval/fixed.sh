#!/bin/sh
cd "$(dirname "$0")"
exec ./target/release/minieval_fixed
