#!/bin/sh
cd "$(dirname "$0")"
exec ./rpcbatch_fixed
