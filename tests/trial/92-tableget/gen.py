import os, random, struct, zlib
random.seed(92)
os.makedirs("data/db", exist_ok=True)
TABLES, KEYS = 72, 2400
keys = sorted({"%016x" % random.getrandbits(64) for _ in range(TABLES * KEYS)})
def bloom(names):
    bits = len(names) * 10 // 8 + 1
    b = bytearray(bits)
    for n in names:
        h = zlib.crc32(n.encode()); d = (h >> 17 | h << 15) & 0xffffffff
        for _ in range(6):
            p = h % (bits * 8); b[p >> 3] |= 1 << (p & 7); h = (h + d) & 0xffffffff
    return bytes(b)
manifest = []
for t in range(TABLES):
    part = keys[t * KEYS:(t + 1) * KEYS]
    out, index, block, first = bytearray(), [], bytearray(), None
    def flush():
        global block, first
        if block:
            index.append((block_last, len(out), len(block)))
            out.extend(block + struct.pack("<I", zlib.crc32(bytes(block))))
            block = bytearray()
    block = bytearray()
    for k in part:
        v = ("%d:%d:%s" % (random.randrange(1, 50000000), random.randrange(1, 800000), random.choice(["p2pkh", "p2sh", "p2wpkh", "p2tr"])) + "x" * random.randrange(10, 60)).encode()
        block += struct.pack("<HH", len(k), len(v)) + k.encode() + v
        block_last = k
        if len(block) > 1500: flush()
    flush()
    bl = bloom(part); boff = len(out); out += bl
    ioff = len(out)
    for last, off, size in index:
        out += struct.pack("<BB", 0, len(last)) + last.encode() + struct.pack("<II", off, size)
    isize = len(out) - ioff
    out += struct.pack("<IIIIII", ioff, isize, boff, len(bl), len(index), 0x8db1e5) 
    open(f"data/db/{t:06d}.tbl", "wb").write(out)
    manifest.append(f"{t:06d}.tbl {part[0]} {part[-1]}\n")
open("data/db/MANIFEST", "w").writelines(manifest)
with open("data/blocks.txt", "w") as f:
    for b in range(2500):
        f.write(f"block {b}\n")
        for _ in range(110):
            f.write("in " + (random.choice(keys) if random.random() < 0.93 else "%016x" % random.getrandbits(64)) + "\n")
