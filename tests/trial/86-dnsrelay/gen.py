import os, random
random.seed(86)
os.makedirs("data", exist_ok=True)
words = "mail www api cdn img static shop blog news login docs git ci files chat".split()
tlds = ["example", "test", "invalid", "corp"]
names = set()
while len(names) < 900:
    names.add(f"{random.choice(words)}{random.randrange(100)}.{random.choice(words)}-{random.randrange(40)}.{random.choice(tlds)}")
names = sorted(names)
random.shuffle(names)
with open("data/zone", "w") as f:
    for n in names:
        for _ in range(random.choice([1, 1, 2, 3])):
            f.write(f"{n} {random.choice((30, 300, 3600))} 10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}\n")
with open("data/queries", "w") as f:
    for i in range(30000):
        n = names[min(int(random.paretovariate(0.55)) - 1, 10**9) % 1000 % 900]
        if random.random() < 0.004:
            n = "no-" + n
        f.write(n + "\n")
