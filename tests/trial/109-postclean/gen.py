import os, random
random.seed(109)
os.makedirs("data", exist_ok=True)
words = "the build fails when option cache is set to zero and server answers with an empty table but only on monday".split()
with open("data/posts.txt", "w") as f:
    for p in range(1500):
        f.write(f"== post {p} by user{random.randrange(300)}\n")
        for l in range(random.randrange(4, 20)):
            t = " ".join(random.choice(words) for _ in range(random.randrange(3, 14)))
            if random.random() < 0.12: t = f"`{t}`"
            if random.random() < 0.05: t = f"see https://example.org/q/{random.randrange(9999)} " + t
            if random.random() < 0.3: t += " " * random.randrange(1, 6)
            if random.random() < 0.05: t += "\t| " + random.choice(words)
            if random.random() < 0.011: t += " " * random.randrange(600, 2600) + "| " + random.choice(words)
            f.write(t + "\n")
