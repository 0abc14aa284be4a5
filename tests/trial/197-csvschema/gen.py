#!/usr/bin/env python3
"""Writes data/orders.csv."""
import os
import random

rnd = random.Random(5)
os.makedirs("data", exist_ok=True)
CITIES = ["Aachen", "Bremen", "Celle", "Dresden", "Essen", "Fulda", "Gera", "Halle, Saale", "Ilmenau", "Jena"]
with open("data/orders.csv", "w") as f:
    f.write("id,placed,city,amount,vat,express,weight,comment,coupon,delivered,items,ref\n")
    for i in range(120000):
        day = "%04d-%02d-%02d" % (rnd.randint(2015, 2023), rnd.randint(1, 12), rnd.randint(1, 28))
        city = rnd.choice(CITIES)
        if "," in city:
            city = '"%s"' % city
        f.write(",".join([
            str(100000 + i), day, city,
            "%.2f" % (rnd.random() * 900), rnd.choice(["0.07", "0.19"]),
            rnd.choice(["true", "false"]),
            "" if rnd.random() < 0.1 else str(rnd.randint(1, 40)) if rnd.random() < 0.5 else "%.1f" % (rnd.random() * 40),
            rnd.choice(["", "please ring", '"say ""hi"" to the dog"', "gift", "call first", "2nd floor"]),
            "" if rnd.random() < 0.8 else "C%04d" % rnd.randrange(10000),
            "%sT%02d:%02d:00" % (day, rnd.randrange(24), rnd.randrange(60)),
            str(rnd.randint(1, 12)), "%08x" % rnd.getrandbits(32)]) + "\n")
