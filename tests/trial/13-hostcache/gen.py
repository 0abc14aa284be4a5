import random, os
random.seed(13)
os.makedirs("data", exist_ok=True)
H = [f"10.{random.randrange(4)}.{random.randrange(250)}.{random.randrange(250)}" for _ in range(520)]
with open("data/flows.txt", "w") as f:
    for i in range(12000): f.write(f"{random.choice(H)} {random.randrange(60, 90000)}\n")
