"""Submitted forms: most are small, two are large tables."""

import os

os.mkdir("forms")
for number in range(20):
    fields = 22_000 if number % 10 == 0 else 30
    with open(f"forms/{number:02}.txt", "w") as file:
        file.write("&".join(f"amount-{field * 31 % fields}={field % 97}" for field in range(fields + 20)))
