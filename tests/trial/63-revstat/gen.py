import random, os
random.seed(63)
os.makedirs("data", exist_ok=True)
N, TIPS = 42000, 24000
people = [f"dev{i}" for i in range(300)]
date = 1200000000
ids = [f"{random.getrandbits(64):016x}" for _ in range(N)]
with open("data/commits.txt", "w") as f:
    for i in range(N):
        date += random.randrange(20, 4000)
        parents = [] if i == 0 else [ids[max(0, i - 1 - int(random.expovariate(1 / 40)))]]
        if i > 5 and random.random() < 0.2:
            parents.append(ids[max(0, i - 1 - int(random.expovariate(1 / 200)))])
        f.write(f"{ids[i]} {date} {random.choice(people)} {' '.join(dict.fromkeys(parents))}\n")
tips = random.sample(ids[3000:], TIPS)
with open("data/refs.txt", "w") as f:
    for n, t in enumerate(tips):
        f.write(f"{t} refs/changes/{n % 100:02}/{n}/1\n")
