"""Zone files with many unrelated host names."""

import os
import random

random.seed(1)
os.mkdir("zones")
letters = "abcdefghijklmnopqrstuvwxyz"


def label(length: int) -> str:
    return "".join(random.choice(letters) for _ in range(length))


for number in range(24):
    with open(f"zones/{number}.zone", "w") as file:
        for host in range(12_000):
            file.write(f"{label(5)}.{label(5)}.{label(7)}.{label(3)}. 10.{number}.{host // 250}.{host % 250 + 1}\n")
