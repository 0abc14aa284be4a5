#!/usr/bin/env python3
"""Writes data/readings.csv (local times) and data/sites.csv."""
import os
import random

rnd = random.Random(31)
os.makedirs("data", exist_ok=True)
ZONES = ["Europe/Berlin", "Europe/London", "America/New_York", "America/Sao_Paulo", "Asia/Tokyo",
         "Asia/Kolkata", "Australia/Sydney", "Africa/Cairo", "America/Los_Angeles", "UTC"]
sites = []
with open("data/sites.csv", "w") as f:
    f.write("site,zone,tariff,day_from,day_to\n")
    for i in range(60):
        z = rnd.choice(ZONES)
        sites.append(("S%03d" % i, z))
        f.write("S%03d,%s,%s,%d,%d\n" % (i, z, rnd.choice(["A", "B", "C"]), rnd.randint(5, 7), rnd.randint(19, 22)))
with open("data/readings.csv", "w") as f:
    f.write("time,site,meter,kwh,volt,quality\n")
    for n in range(110000):
        s, z = rnd.choice(sites)
        f.write("2023-%02d-%02d %02d:%02d:%02d,%s,M%d,%.3f,%.1f,%s\n" % (
            rnd.randint(1, 12), rnd.randint(1, 28), rnd.randint(4, 23), rnd.randrange(60), rnd.randrange(60),
            s, rnd.randrange(4), rnd.random() * 5, 225 + rnd.random() * 10, rnd.choice(["ok", "ok", "ok", "est", "bad"])))
