import os, random, struct, zlib
random.seed(45)
os.makedirs("data", exist_ok=True)
N = 12400
out, index = open("data/tiles.bin", "wb"), []
at = 0
noise = random.randbytes(1 << 20)
for i in range(N):
    h = bytearray()
    base, step = random.randrange(200, 4000), random.randrange(1, 9)
    a = (i * 7919) % (len(noise) - 16384)
    raw = bytes(b & 7 for b in noise[a:a + 16384])
    z = zlib.compress(struct.pack("<HH", base, step) + raw, 1)
    out.write(z)
    index.append((at, len(z)))
    at += len(z)
with open("data/tiles.idx", "wb") as f:
    for a, n in index: f.write(struct.pack("<QII", a, n, 0))
order = list(range(N))
random.shuffle(order)
with open("data/wanted.txt", "w") as f:
    for i in order: f.write(f"{i}\n")
