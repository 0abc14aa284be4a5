import random, os, hashlib, struct
random.seed(61)
os.makedirs("data/objects/pack", exist_ok=True)
def oid(i):
    return hashlib.sha1(b"commit %d" % i).digest()
have = [oid(i) for i in range(52000)]
loose, packed = have[:500], have[500:]
for o in loose:
    h = o.hex()
    os.makedirs("data/objects/" + h[:2], exist_ok=True)
    with open(f"data/objects/{h[:2]}/{h[2:]}", "wb") as f:
        f.write(b"x" * random.randrange(40, 400))
packs = [[] for _ in range(46)]
for o in packed:
    random.choice(packs).append(o)
for n, ids in enumerate(packs):
    ids.sort()
    name = "data/objects/pack/pack-" + hashlib.sha1(b"pack %d" % n).hexdigest()
    with open(name + ".idx", "wb") as f:
        f.write(b"PIDX" + struct.pack(">I", len(ids)))
        count, at = [], 0
        for b in range(256):
            while at < len(ids) and ids[at][0] <= b:
                at += 1
            count.append(at)
        f.write(struct.pack(">256I", *count))
        f.write(b"".join(ids))
    with open(name + ".pack", "wb") as f:
        f.write(b"PACK" + bytes(random.randrange(256) for _ in range(600)))
kinds = ["heads", "tags", "pull", "pull", "pull", "notes", "merge-requests"]
with open("data/advertised.txt", "w") as f:
    for i in range(26000):
        o = random.choice(have) if random.random() < 0.45 else oid(10**6 + i)
        k = random.choice(kinds)
        f.write(f"{o.hex()} refs/{k}/{i if k != 'tags' else 'v%d.%d.%d' % (i // 900, i // 30 % 30, i % 30)}{'/head' if k == 'pull' else ''}\n")
