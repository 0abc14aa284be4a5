"""Scanned letters: most are small pictures of some kilobytes, receipts are less than one."""

import os
import random

random.seed(1)
os.mkdir("scans")
for number in range(40):
    kind, size = ("letter", random.randrange(20_000, 90_000)) if number % 8 == 0 else ("receipt", random.randrange(300, 1_000))
    with open(f"scans/{number:03}-{kind}.png", "wb") as file:
        file.write(random.randbytes(size))
