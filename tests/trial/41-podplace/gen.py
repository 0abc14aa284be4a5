import random, os
random.seed(41)
os.makedirs("data", exist_ok=True)
with open("data/cluster.txt", "w") as f:
    for i in range(5000):
        f.write(f"node ip-10-0-{i // 250}-{i % 250}.eu-central-1.compute.internal zone-{i % 3} {random.choice([4000, 8000, 16000])} {random.choice([8192, 16384, 65536])}\n")
    for i in range(80000):
        n = random.randrange(5000)
        f.write(f"pod app-{random.randrange(400)}-{i} ip-10-0-{n // 250}-{n % 250}.eu-central-1.compute.internal {random.choice([50, 100, 250])} {random.choice([64, 128, 512])}\n")
