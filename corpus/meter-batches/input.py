"""Readings of meters, some for each of them in turn."""

import random

random.seed(1)
with open("readings.csv", "w") as file:
    for batch in range(4_000):
        meter = f"meter-{batch % 700:04}"
        for minute in range(4):
            file.write(f"{meter};2024-04-02T{batch // 700:02}:{minute * 15:02};{random.randrange(90_000) / 10:.1f};kWh\n")
