import random, os
random.seed(42)
os.makedirs("data", exist_ok=True)
with open("data/tracks.txt", "w") as f:
    for i in range(500):
        f.write(f"{i} {random.randrange(100, 900)} {random.randrange(100, 900)} {''.join(random.choices('nswe', k=1400))}\n")
