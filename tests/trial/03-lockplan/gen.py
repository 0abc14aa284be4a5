import random, os
random.seed(3)
os.makedirs("data", exist_ok=True)
W = "async http json log core util net fs tls macro derive stream cache codec time".split()
N = 21000
names = [f"{random.choice(W)}-{random.choice(W)}-{i:05d}" for i in range(N)]
with open("data/registry.txt", "w") as f:
    f.write("# name | version | size | deps\n")
    for r in range(5): f.write(f"root {names[r]}\n")
    for i, n in enumerate(names):
        deps = [names[min(N-1, i*2+1)], names[min(N-1, i*2+2)]] + [random.choice(names) for _ in range(random.randrange(2, 6))]
        if i % 900 == 0: deps.append(f"gone-{i}")
        f.write(f"{n} | {random.randrange(9)}.{random.randrange(30)}.{random.randrange(9)} | {random.randrange(1000,900000)} | {' '.join(deps)}\n")
