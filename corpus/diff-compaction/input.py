"""Two exports of a stock list: between them many items were sold out, and some came in."""

import random

random.seed(1)
old = [f"item{number:06},shelf {number % 40}\n\n" for number in range(210_000)]
new = []
for line in old:
    if random.random() < 0.3:
        new.append(f"item{random.randrange(10**9)},new\n\n")
    if random.random() < 0.7:
        new.append(line)
with open("old.csv", "w") as file:
    file.write("".join(old))
with open("new.csv", "w") as file:
    file.write("".join(new))
