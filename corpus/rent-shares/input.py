"""The houses of a landlord with the flats of each, and the costs of the year."""

import random

random.seed(1)
with open("houses.csv", "w") as file:
    for house in range(4_000):
        flats = [f"{random.randrange(2_500, 14_000) / 100:.2f}/{random.choice([365, 365, 365, random.randrange(20, 364)])}" for _ in range(random.randrange(20, 90))]
        file.write(f"house {house};{random.randrange(1_000_000, 90_000_000) / 100:.2f};" + ";".join(flats) + "\n")
