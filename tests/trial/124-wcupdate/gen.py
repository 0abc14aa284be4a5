import os, random
random.seed(124)
words = "node tree path list text prop item lock hash base root copy edit move".split()
for ext in ("trunk", "libs-core", "libs-net"):
    os.makedirs("data", exist_ok=True)
    with open(f"data/{ext}.dump", "w") as f:
        for i in range(220):
            body = "\n".join(" ".join(random.choice(words) for _ in range(9)) for _ in range(random.randrange(60, 400)))
            name = f"{random.choice(words)}/{random.choice(words)}{i}.txt"
            f.write(f"file {name} {len(body)} {random.randrange(100, 900)}\n{body}\n")
