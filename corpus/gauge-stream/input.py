"""A recording of the gauges of a river: name, level in mm, and the checksum of both; some lines are damaged."""

import random

random.seed(1)


def checksum(text):
    total = 0xFFFF
    for byte in text.encode():
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ 0xA001 if total & 1 else total >> 1
    return total


with open("recording.txt", "w") as file:
    for _ in range(36_000):
        text = f"{random.choice(['upper-weir', 'lower-weir', 'mill', 'bridge', 'harbour'])} {random.randrange(400, 9000)}"
        total = checksum(text)
        if random.random() < 0.01:
            total ^= 0x40
        file.write(f"{text}*{total:04x}\n")
