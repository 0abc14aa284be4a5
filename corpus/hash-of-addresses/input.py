"""A trace of accesses to large pages of 2 MiB."""

import random

random.seed(1)
with open("pages.txt", "w") as file:
    for _ in range(300_000):
        file.write(f"{(0x7F000 + random.randrange(36_000)) << 21:x}\n")
