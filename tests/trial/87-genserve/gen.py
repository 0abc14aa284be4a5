import os, random
random.seed(87)
os.makedirs("data", exist_ok=True)
words = [a + b for a in "ka lo mi ren sta vo pel dur an ost".split() for b in "ra nel tis mo gan dle ry vus".split()]
follow = {w: random.sample(words, 6) for w in words}
with open("data/corpus.txt", "w") as f:
    for _ in range(26000):
        w, line = random.choice(words), []
        for _ in range(random.randrange(5, 15)):
            line.append(w)
            w = random.choice(follow[w]) if random.random() < 0.9 else random.choice(words)
        f.write(" ".join(line) + " .\n")
with open("data/sessions.txt", "w") as f:
    for s in range(3):
        for turn in range(23):
            f.write(f"session{s} {random.randrange(6, 20)} {' '.join(random.choice(words) for _ in range(random.randrange(2, 6)))}\n")
