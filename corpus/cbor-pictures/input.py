"""Pictures of a camera in CBOR: each is a map with a byte string. Only the few types that are needed are written."""

import random
import struct


def head(kind: int, value: int) -> bytes:
    if value < 24:
        return bytes([kind << 5 | value])
    return bytes([kind << 5 | 26]) + struct.pack(">I", value)


def text(value: str) -> bytes:
    return head(3, len(value)) + value.encode()


random.seed(1)
with open("pictures.cbor", "wb") as file:
    for number, megabytes in enumerate((2, 18, 3, 22, 1)):
        size = megabytes << 20
        file.write(head(5, 2) + text("number") + head(0, number) + text("picture") + head(2, size) + random.randbytes(size))
