"""The requests that the search of a flat agency got on one day."""

import random
from urllib.parse import urlencode

random.seed(1)
TOWNS = ["Köln", "Bonn", "Aachen", "Düsseldorf", "Essen", "Münster", "Bad Godesberg"]
with open("requests.log", "w") as file:
    for _ in range(100_000):
        query = [("town", random.choice(TOWNS)), ("rooms_min", random.randrange(1, 4)), ("rooms_max", random.randrange(3, 7))]
        query += [("price_min", random.randrange(0, 800, 50)), ("price_max", random.randrange(700, 2500, 50))]
        query += [("area_min", random.randrange(20, 60)), ("area_max", random.randrange(60, 200)), ("floor_max", random.randrange(1, 9))]
        query += [("feature", feature) for feature in random.sample(["balcony", "garden", "lift", "cellar", "garage"], random.randrange(3))]
        query += [("sort", random.choice(["price", "area", "newest first"])), ("page", random.randrange(1, 4)), ("per_page", 20)]
        query += [("utm_source", "news letter"), ("session", f"{random.getrandbits(96):024x}")]
        file.write(f"/flats?{urlencode(query)}\n")
