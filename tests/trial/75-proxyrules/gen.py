import random, os
random.seed(75)
os.makedirs("data", exist_ok=True)
spaces = ["default", "shop", "billing", "search", "infra", "batch"]
n = 260
services = []
with open("data/changes.txt", "w") as f:
    for i in range(n):
        name = f"{random.choice(spaces)}/svc-{i}"
        services.append([name, []])
        f.write(f"service {name} 10.96.{i // 250}.{i % 250 + 1} {random.choice([80, 443, 8080, 5432])} {random.choice(['None', 'None', 'ClientIP'])}\n")
    def fresh(): return f"10.{random.randrange(1, 60)}.{random.randrange(256)}.{random.randrange(1, 255)}:{random.choice([8080, 9000, 8443])}"
    for s in services:
        for _ in range(random.randrange(1, 9)):
            s[1].append(fresh())
            f.write(f"add {s[0]} {s[1][-1]}\n")
    f.write("sync\n")
    for _ in range(460):
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            s = random.choice(services[:60])
            if s[1] and random.random() < 0.5:
                f.write(f"remove {s[0]} {s[1].pop(random.randrange(len(s[1])))}\n")
            else:
                s[1].append(fresh())
                f.write(f"add {s[0]} {s[1][-1]}\n")
        f.write("sync\n")
