import random, os
random.seed(24)
os.makedirs("data", exist_ok=True)
with open("data/terrain.txt", "w") as f:
    for z in range(390):
        f.write(f"-195 {z-195} 1 390 {random.randrange(2**32)}\n")
