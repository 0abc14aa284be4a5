"""A texture atlas, compressed as DXT1, and the places of the sprites in it."""

import random

random.seed(1)
WIDTH, HEIGHT = 2048, 2048
with open("atlas.dxt1", "wb") as file:
    for _ in range(HEIGHT // 4):
        file.write(b"".join(random.randbytes(4) + random.choice([b"\0\0\0\0", b"\x1b\x1b\x1b\x1b", b"\x55\xaa\x55\xaa"]) for _ in range(WIDTH // 4)))
with open("sprites.tsv", "w") as file:
    for number in range(2300):
        size = random.choice([32, 64, 64, 128])
        x, y = (random.randrange(0, WIDTH - size, 16) for _ in range(2))
        file.write(f"{random.choice(['trees', 'houses', 'people', 'signs'])}\t{x} {y} {size} {size}\n")
