import os, random
random.seed(85)
os.makedirs("data", exist_ok=True)
words = "queue cache worker http disk net pool gc db index".split()
with open("data/targets.conf", "w") as f:
    for t in range(48):
        f.write(f"target app{t:02}\n")
        for m in range(random.randrange(3, 7)):
            kind = random.choice(["counter", "gauge", "histogram"])
            name = f"{random.choice(words)}_{random.choice(['requests', 'bytes', 'seconds', 'errors'])}_{m}"
            f.write(f"  {kind} {name} zone={random.choice('abc')},shard={random.randrange(8)} {random.randrange(1, 5000)}\n")
