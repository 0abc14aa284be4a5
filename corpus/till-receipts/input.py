"""The receipts of a till in an hour."""

import random

random.seed(1)
goods = ["bread", "milk", "apples", "cheese", "tea", "soap", "rice", "candles"]
with open("receipts.txt", "w") as file:
    for receipt in range(36):
        for line in range(random.randrange(2, 25)):
            file.write(f"{4000 + receipt};{line};{random.choice(goods)};{random.randrange(1, 5)};{random.randrange(40, 900) / 100:.2f}\n")
        file.write("\n")
