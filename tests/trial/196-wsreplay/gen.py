#!/usr/bin/env python3
"""Writes data/feed.bin: a captured websocket stream of market data."""
import os
import random
import struct

rnd = random.Random(42)
FRAMES = 165000
SYMS = ["BTC-EUR", "ETH-EUR", "LTC-EUR", "XRP-EUR", "ADA-EUR", "DOT-EUR", "SOL-EUR", "UNI-EUR"]
os.makedirs("data", exist_ok=True)


def frame(opcode, payload, fin=True):
    key = rnd.randbytes(4)
    n = len(payload)
    head = bytes([(0x80 if fin else 0) | opcode])
    if n < 126:
        head += bytes([0x80 | n])
    elif n < 65536:
        head += bytes([0x80 | 126]) + struct.pack(">H", n)
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", n)
    pad = (key * (n // 4 + 1))[:n]
    body = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(n, "big")
    return head + key + body


with open("data/feed.bin", "wb") as f:
    for i in range(FRAMES):
        sym = rnd.choice(SYMS)
        r = rnd.random()
        if r < 0.01:
            f.write(frame(9, b"hb%d" % i))
            continue
        if i % 20000 == 0:
            n = 3000
        else:
            n = 1 + int(rnd.expovariate(0.12))
        levels = []
        for _ in range(n):
            levels.append("%s:%.2f:%.4f" % (rnd.choice("ba"), 100 + rnd.randrange(20000) / 100,
                                            rnd.choice([0, 0, 1, 2, 3]) * rnd.random()))
        msg = '{"type":"%s","sym":"%s","seq":%d,"levels":"%s"}' % (
            "snapshot" if n == 3000 else "update", sym, i, " ".join(levels))
        data = msg.encode()
        if r > 0.97:
            cut = len(data) // 2
            f.write(frame(1, data[:cut], fin=False))
            f.write(frame(0, data[cut:]))
        else:
            f.write(frame(1, data))
    f.write(frame(8, struct.pack(">H", 1000) + b"bye"))
