#!/usr/bin/env python3
"""Writes data/input.log."""
import os
import random

rnd = random.Random(4)
os.makedirs("data", exist_ok=True)
MSGS = ["connection from %s accepted", "user %s logged in", "cache miss for key %s", "request %s took %d ms",
        "retrying %s after %d s", "worker %d finished job %s", "configuration %s reloaded"]
with open("data/input.log", "w") as f:
    for i in range(760000):
        m = rnd.choice(MSGS)
        args = tuple("%08x" % rnd.getrandbits(32) if p == "s" else rnd.randrange(5000)
                     for p in [c[0] for c in m.split("%")[1:]])
        f.write("2024-03-%02d %02d:%02d:%02d app[%d]: %s\n" % (
            1 + i // 30000, i // 1000 % 24, i // 14 % 60, i % 60, rnd.randrange(40), m % args))
