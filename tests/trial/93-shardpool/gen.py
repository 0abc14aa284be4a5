import os, random
random.seed(93)
os.makedirs("data", exist_ok=True)
with open("data/queries.txt", "w") as f:
    for q in range(2400):
        f.write(f"{random.randrange(12)} {random.randrange(1, 4000)} {random.choice(['daily', 'weekly', 'tax', 'refunds'])}\n")
