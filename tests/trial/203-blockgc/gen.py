#!/usr/bin/env python3
"""Writes data/blocks.bin (records of key and block) and data/pins.txt."""
import os
import random
import struct
import zlib

rnd = random.Random(17)
os.makedirs("data", exist_ok=True)
N = 80000
keys = [rnd.randbytes(20) for _ in range(N)]
with open("data/blocks.bin", "wb") as f:
    for i in range(N):
        links = []
        if i < N - 1 and rnd.random() < 0.45:
            for _ in range(rnd.randint(1, 8)):
                j = min(N - 1, i + 1 + int(rnd.expovariate(1 / 4000.0)))
                links.append(keys[j])
        block = bytes([len(links)]) + b"".join(links) + rnd.randbytes(rnd.randint(4, 60))
        block += struct.pack(">I", zlib.crc32(block))
        f.write(keys[i] + struct.pack(">H", len(block)) + block)
with open("data/pins.txt", "w") as f:
    for i in sorted(rnd.sample(range(N // 2), 90)):
        f.write(keys[i].hex() + "\n")
