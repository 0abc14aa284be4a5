import os, random, struct, hashlib
random.seed(82)
os.makedirs("data", exist_ok=True)
words = "core util net http json store cache index parse render model view test bench proto codec queue sched auth audit".split()
exts = [".go", ".c", ".h", ".md", ".py", ".txt", ".json"]

def varint(n):
    out = [n & 127]
    n >>= 7
    while n:
        n -= 1
        out.append(128 | n & 127)
        n >>= 7
    return bytes(reversed(out))

def index(name, count):
    paths = set()
    while len(paths) < count:
        d = "/".join(random.choice(words) for _ in range(random.randrange(1, 4)))
        paths.add(f"{d}/{random.choice(words)}_{random.choice(words)}_{random.getrandbits(36):09x}{random.choice(exts)}")
    entries, head, prev = [], [], ""
    for p in sorted(paths):
        sha = random.randbytes(20)
        t = 1600000000 + random.randrange(10**7)
        mode = 0o100755 if random.random() < 0.05 else 0o100644
        common = len(os.path.commonprefix([prev, p]))
        flags = len(p)
        e = struct.pack(">10I", t, random.randrange(10**9), t, 0, 2049, random.getrandbits(30), mode, 1000, 1000, random.randrange(90000))
        entries.append(e + sha + struct.pack(">H", flags) + varint(len(prev) - common) + p[common:].encode() + b"\0")
        prev = p
        r = random.random()
        if r < 0.004:
            continue                                        # added since HEAD
        head.append(f"{mode:o} {(random.randbytes(20) if r < 0.01 else sha).hex()} {p}\n")
    data = b"DIRC" + struct.pack(">II", 4, len(entries)) + b"".join(entries)
    open(f"data/{name}.index", "wb").write(data + hashlib.sha1(data).digest())
    open(f"data/{name}.head", "w").writelines(head)

index("main", 66000)
index("vendor", 44000)
index("docs", 20000)
