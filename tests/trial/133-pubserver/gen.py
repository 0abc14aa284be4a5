import os, random
random.seed(133)
os.makedirs("data", exist_ok=True)
live = []
with open("data/deltas.txt", "w") as f:
    for i in range(3700):
        r = random.random()
        if r < .62 or len(live) < 20:
            uri = f"rsync://repo.example/ca{random.randrange(120)}/{random.getrandbits(48):012x}.{random.choice(['roa', 'cer', 'mft', 'crl'])}"
            live.append(uri)
            op = "publish"
        elif r < .85: uri, op = random.choice(live), "update"
        else: uri, op = live.pop(random.randrange(len(live))), "withdraw"
        body = "" if op == "withdraw" else " " + random.randbytes(random.randrange(60, 140)).hex()
        f.write(f"ca{random.randrange(120)} {op} {uri}{body}\n")
