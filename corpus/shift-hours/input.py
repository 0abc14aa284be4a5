"""The calls of a hotline: when each began, by the clock on the wall, and how long it was."""

import datetime
import random

random.seed(1)
with open("calls.tsv", "w") as file:
    start = datetime.datetime(2021, 1, 1)
    for _ in range(1_900_000):
        start += datetime.timedelta(seconds=random.randrange(40))
        file.write(f"{start}\t{random.randrange(10, 900)}\n")
