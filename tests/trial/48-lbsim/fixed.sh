#!/bin/sh
cd "$(dirname "$0")"
exec ./lbsim_fixed
