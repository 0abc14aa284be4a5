"""The prices of some shares, second by second."""

import random

random.seed(1)
shares = [f"SHR{number:02}" for number in range(28)]
prices = {share: random.randrange(1_000, 90_000) for share in shares}
with open("prices.csv", "w") as file:
    for second in range(100_000):
        changed = random.sample(shares, random.randrange(22, 25))
        for share in changed:
            prices[share] += random.randrange(-9, 10)
        file.write(f"{second};" + ";".join(f"{share}={prices[share] / 100:.2f}" for share in changed) + "\n")
