"""Readings of sensors in CBOR, one record after the other. Only the few types that are needed are written."""

import random
import struct


def head(kind: int, value: int) -> bytes:
    for limit, code, form in ((24, value, ""), (1 << 8, 24, "B"), (1 << 16, 25, "H"), (1 << 32, 26, "I")):
        if value < limit:
            return bytes([kind << 5 | code]) + (struct.pack(">" + form, value) if form else b"")
    raise ValueError(value)


def text(value: str) -> bytes:
    return head(3, len(value)) + value.encode()


random.seed(1)
with open("readings.cbor", "wb") as file:
    for number in range(160_000):
        values = [random.randrange(70_000) for _ in range(4)]
        file.write(head(5, 3))
        file.write(text("sensor") + text(f"hall-{number % 40}"))
        file.write(text("time") + head(0, 1_700_000_000 + number))
        file.write(text("values") + head(4, len(values)) + b"".join(head(0, value) for value in values))
