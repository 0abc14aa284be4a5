import os, random
random.seed(221)
os.makedirs("data", exist_ok=True)
syl = ["ba", "ke", "lo", "mi", "nu", "ra", "sti", "tor", "ven", "wa", "xe", "yo", "zu", "cri", "dem", "fal"]
vocab = sorted({"".join(random.choice(syl) for _ in range(random.randint(2, 5))) for _ in range(60000)})
random.shuffle(vocab)
weights = [1 / (i + 8) ** 0.9 for i in range(len(vocab))]
stream = random.choices(vocab, weights, k=2600000)
with open("data/articles.txt", "w") as f:
    at = 0
    while at < len(stream):
        n = random.randint(40, 260)
        f.write(" ".join(stream[at:at + n]).capitalize() + ".\n")
        at += n
with open("data/queries.txt", "w") as f:
    for _ in range(4200):
        kind = random.choice(["and", "and", "phrase", "or"])
        if kind == "phrase":
            i = random.randrange(len(stream) - 3); words = stream[i:i + random.randint(2, 3)]
        else:
            words = [vocab[int(random.paretovariate(0.6)) % 5000] for _ in range(random.randint(2, 4))]
        f.write(kind + " " + " ".join(words) + "\n")
