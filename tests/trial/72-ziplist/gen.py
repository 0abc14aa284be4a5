import random, os, struct, zlib
random.seed(72)
os.makedirs("data", exist_ok=True)
exts = ["class"] * 8 + ["properties", "xml", "png", "txt", "so"]
central, count, at = [], 150000, 0
with open("data/bundle.zip", "wb") as f:
    for i in range(count):
        name = f"org/{random.choice(['app', 'lib', 'util', 'ui', 'net'])}/p{random.randrange(300)}/Part{i}.{random.choice(exts)}".encode()
        body = b"%d " % i * random.randrange(1, 12)
        deflated = random.random() < 0.8
        packed = body
        method = 8 if deflated else 0
        if deflated:
            c = zlib.compressobj(1, zlib.DEFLATED, -15)
            packed = c.compress(body) + c.flush()
        crc, extra = zlib.crc32(body), struct.pack("<HHBI", 0x5455, 5, 1, 1600000000 + i)
        date = (2024 - 1980) << 9 | random.randrange(1, 13) << 5 | random.randrange(1, 29)
        f.write(struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, 0, method, i % 40000, date, crc, len(packed), len(body), len(name), len(extra)) + name + extra + packed)
        central.append(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 798, 20, 0, method, i % 40000, date, crc, len(packed), len(body), len(name), len(extra), 0, 0, 0, 0o100644 << 16, at) + name + extra)
        at = f.tell()
    all = b"".join(central)
    f.write(all)
    f.write(struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 65535, 65535, len(all), at, len(b"%d" % count)) + b"%d" % count)
