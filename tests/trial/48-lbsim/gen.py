import random, os
random.seed(48)
os.makedirs("data", exist_ok=True)
svc = ["catalog", "basket", "search", "login"]
with open("data/trace.txt", "w") as f:
    for s in svc:
        for i in range(220):
            f.write(f"endpoint {s} 10.{random.randrange(4)}.{random.randrange(250)}.{i}:8080 zone-{i % 3} {random.choice([1, 1, 2, 4])}\n")
    t = 0
    for i in range(80000):
        t += random.randrange(3)
        f.write(f"{t} {random.choice(svc)} zone-{random.randrange(3)} {random.randrange(20, 900)} x\n")
