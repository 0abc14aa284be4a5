"""The visits of a month: day and number of the visitor."""

import random

random.seed(1)
with open("visits.txt", "w") as file:
    for day in range(1, 31):
        for _ in range(20_000):
            file.write(f"2024-04-{day:02} {min(random.randrange(4_000_000), random.randrange(4_000_000))}\n")
