import random, os
random.seed(40)
os.makedirs("data", exist_ok=True)
N = 44000
with open("data/packages.txt", "w") as f:
    for i in range(N):
        feats = " ".join(random.sample(["std", "alloc", "serde", "net", "tls", "cli"], random.randrange(0, 3)))
        deps = sorted({random.randrange(i + 1, min(N, i + 400)) for _ in range(random.randrange(2, 6))}) if i < N - 1 else []
        f.write(f"package pkg-{i} {random.randrange(4)}.{random.randrange(20)}.{random.randrange(9)} size={random.randrange(900, 90000)}\n")
        if feats: f.write(f"  features {feats}\n")
        for d in deps: f.write(f"  needs pkg-{d}{' optional' if random.random() < .06 else ''}\n")
