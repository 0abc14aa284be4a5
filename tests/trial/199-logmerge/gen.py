#!/usr/bin/env python3
"""Writes data/part-*.log, the access logs of a few days."""
import os
import random

rnd = random.Random(11)
os.makedirs("data", exist_ok=True)
KINDS = ["item", "user", "cart", "list", "img", "api/v2/obj"]
for part in range(3):
    with open("data/part-%d.log" % part, "w") as f:
        for i in range(90000):
            # most pages are asked for once only
            if rnd.random() < 0.25:
                page = int(rnd.expovariate(1 / 2000.0))
            else:
                page = rnd.randrange(3000000)
            path = "/%s/%d" % (KINDS[page % len(KINDS)], page)
            f.write("10.%d.%d.%d %02d:%02d GET %s %d %d\n" % (
                rnd.randrange(4), rnd.randrange(256), rnd.randrange(256), i * 24 // 90000, rnd.randrange(60),
                path, rnd.choice([200, 200, 200, 200, 304, 404]), rnd.randrange(100, 60000)))
