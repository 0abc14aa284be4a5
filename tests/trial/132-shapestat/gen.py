import os, random, struct
random.seed(132)
os.makedirs("data", exist_ok=True)
for layer, count in (("parcels", 420000), ("buildings", 360000), ("parks", 130000)):
    shp, shx = bytearray(b"SHPF" + bytes(96)), bytearray(b"SHXF" + bytes(96))
    for i in range(count):
        x, y = random.uniform(0, 4000), random.uniform(0, 4000)
        n = random.choice((4, 4, 5, 5, 6, 9))
        kind = 5 if i % 11 else 1
        if kind == 1: body = struct.pack("<idd", 1, x, y)
        else:
            pts = [(x + random.uniform(0, 30), y + random.uniform(0, 30)) for _ in range(n)]
            body = struct.pack("<ii", 5, n) + b"".join(struct.pack("<ff", *p) for p in pts)
        shx += struct.pack(">II", len(shp), len(body))
        shp += struct.pack(">II", i + 1, len(body)) + body
        if i % 97 == 0: shp += bytes(24)
    open(f"data/{layer}.shp", "wb").write(shp)
    open(f"data/{layer}.shx", "wb").write(shx)
