#!/bin/sh
cd "$(dirname "$0")"
exec ./target/release/feedpool_fixed
