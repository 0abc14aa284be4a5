"""The quotes of some papers on one trading day: second, paper and price in cents."""

import random

random.seed(1)
prices = {f"{name}{number}": random.randrange(500, 40_000) for name in ("ABC", "DEF", "XYZ") for number in range(1, 15)}
with open("quotes.tsv", "w") as file:
    for second in range(9 * 3600, 9 * 3600 + 3600):
        for _ in range(random.randrange(300, 600)):
            name = random.choice(list(prices))
            prices[name] = max(100, prices[name] + random.randrange(-20, 21))
            file.write(f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}\t{name} {prices[name]}\n")
