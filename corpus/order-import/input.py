"""The orders of some shops, one position a line."""

import random

random.seed(1)
countries = ["Austria", "Belgium", "Denmark", "Finland", "France", "Germany", "Italy", "Norway", "Poland", "Spain", "Sweden", "Switzerland"]
with open("orders.csv", "w") as file:
    for number in range(100_000):
        customer = f"Customer {random.randrange(9000)};Street {random.randrange(300)};Town {random.randrange(500)};{random.choice(countries)}"
        for _ in range(random.randrange(1, 6)):
            article = f"article {random.randrange(5000)};{random.randrange(5)};{random.randrange(100, 20_000)}"
            file.write(f"{number};shop{number % 8};{customer};{article}\n")
