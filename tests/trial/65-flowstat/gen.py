import random, os
random.seed(65)
os.makedirs("data", exist_ok=True)
hosts = [random.getrandbits(32) for _ in range(500000)]
for part in range(3):
    with open(f"data/flows.{part}.csv", "w") as f:
        own = random.sample(hosts, 400000 if part == 0 else 16000)
        out = []
        for h in own:
            for _ in range(random.choice([1, 1, 1, 2])):
                out.append(f"{h >> 24}.{h >> 16 & 255}.{h >> 8 & 255}.{h & 255},{random.choice((53, 80, 443, 443, 22, 8080))},{random.randrange(40, 20000)}\n")
        random.shuffle(out)
        f.writelines(out)
