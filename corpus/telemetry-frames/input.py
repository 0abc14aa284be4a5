"""A telemetry downlink: frames of instruments, one after the other, bit by bit."""

import random

random.seed(1)
MARKER = 0b00011010110011111111110000011101
value, bits = 1, 3
chunks = []
for number in range(3000):
    size = random.choice([3001, 12_345, 80_003, 160_001])
    chunks.append(f"{MARKER:032b}{random.randrange(12):04b}{size:020b}{random.getrandbits(size):0{size}b}")
text = "001" + "".join(chunks)
text += "0" * (-len(text) % 8)
with open("downlink.bin", "wb") as file:
    for at in range(0, len(text), 1 << 20):
        part = text[at : at + (1 << 20)]
        file.write(int(part, 2).to_bytes(len(part) // 8, "big"))
