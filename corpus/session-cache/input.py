"""Visits to a site: who came to which page, one a line."""

import random

random.seed(1)
with open("visits.txt", "w") as file:
    for _ in range(1_800_000):
        file.write(f"visitor{min(random.randrange(1_500), random.randrange(1_500))} /page{random.randrange(100_000)}\n")
