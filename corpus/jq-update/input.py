"""A stock list."""

import json

with open("stock.json", "w") as file:
    json.dump({f"item{number}": {"price": number, "name": f"thing {number}"} for number in range(9_000)}, file)
