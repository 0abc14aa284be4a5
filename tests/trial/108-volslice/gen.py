import gzip, os, random, struct
random.seed(108)
os.makedirs("data", exist_ok=True)
W, H, D = 128, 128, 96
base = [[int(1000 + 700 * ((x * y) % 97) / 97 + random.randrange(60)) for x in range(W)] for y in range(H)]
with gzip.open("data/head.vol.gz", "wb", 6) as f:
    f.write(struct.pack("<4sIIIf", b"VOL1", W, H, D, 0.8) + bytes(44))
    for z in range(D):
        k = z % 17
        f.write(b"".join(struct.pack(f"<{W}H", *[(v + 13 * k) & 0xfff | (random.getrandbits(2)) for v in row]) for row in base))
with open("data/requests.txt", "w") as f:
    for i in range(420):
        f.write(f"{random.choice(['mean', 'mean', 'edge', 'hist'])} {random.randrange(D)}\n")
