"""A dictionary of typical events, 100 KB, and events of a shop."""

import json
import random

random.seed(1)
words = ["order", "invoice", "parcel", "refund", "voucher", "basket", "address", "newsletter", "warehouse", "carrier"]


def event(number):
    return json.dumps(
        {
            "id": f"{random.getrandbits(64):016x}",
            "account": random.randrange(9_000),
            "kind": f"{random.choice(words)}.{random.choice(['created', 'changed', 'sent', 'closed'])}",
            "time": f"2024-03-{number % 28 + 1:02}T{random.randrange(24):02}:{random.randrange(60):02}:00Z",
            "amount": random.randrange(20_000),
            "note": " ".join(random.choice(words) for _ in range(12)),
            "source": {"service": "shop-frontend", "region": random.choice(["eu-west", "eu-north", "us-east"]), "version": "4.17.2"},
        },
        separators=(",", ":"),
    )


with open("dictionary", "w") as file:
    file.write("\n".join(event(number) for number in range(320)))
with open("events.jsonl", "w") as file:
    for number in range(40_000):
        file.write(event(number) + "\n")
