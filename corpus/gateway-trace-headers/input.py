"""Requests to a gateway, with the headers that two vendors' tracing and the shop's own context put on them."""

import random

random.seed(1)
with open("requests.txt", "w") as file:
    for request in range(100_000):
        service = random.choice(["catalog", "cart", "search", "payment"])
        parent = f"00-{random.getrandbits(128):032x}-{random.getrandbits(64):016x}-{random.choice(['00', '01', '01'])}"
        state = f"rojo={random.getrandbits(64):016x},congo=t61rcWkgMzE,acme@nr=0-0-{random.randrange(90_000)}-{random.getrandbits(40):010x}"
        baggage = f"tenant=t-{random.randrange(300)},region={random.choice(['eu', 'us'])}"
        file.write(f"{service}\ttraceparent: {parent}\ttracestate: {state}\tbaggage: {baggage}\n")
