#!/usr/bin/env python3
"""Writes data/bookings.csv."""
import os
import random

rnd = random.Random(23)
os.makedirs("data", exist_ok=True)
with open("data/bookings.csv", "w") as f:
    f.write("id,account,day,amount,kind,note\n")
    for i in range(30000):
        f.write("%d,A%03d,2022-%02d-%02d,%.2f,%s,%s\n" % (
            i, rnd.randrange(360), rnd.randint(1, 12), rnd.randint(1, 28), rnd.gauss(0, 300),
            rnd.choice(["card", "transfer", "cash", "fee"]), rnd.choice(["", "rent", "food", "travel", "refund"])))
