import random, os
random.seed(11)
os.makedirs("data", exist_ok=True)
with open("data/metrics.csv", "w") as f:
    f.write(",".join(f"m{i}" for i in range(24)) + "\n")
    for r in range(24000):
        f.write(",".join("" if random.random() < .02 else f"{random.gauss(i,1+i/5):.3f}" for i in range(24)) + "\n")
