import random, os
random.seed(112)
os.makedirs("data", exist_ok=True)
with open("data/events.tsv", "w") as f:
    for i in range(1300000):
        f.write(f"{i}\tuser{random.randrange(300000):06d}\tevent-{random.randrange(40)}\t{random.random():.6f}\n")
