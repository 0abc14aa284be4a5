import random, os
random.seed(31)
os.makedirs("data", exist_ok=True)
syl = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru sa se si so su ta te ti to tu".split()
words = set()
while len(words) < 1700:
    words.add("".join(random.choice(syl) for _ in range(random.randrange(2, 5))))
words = sorted(words)
random.shuffle(words)
w = [1.0 / (20 + i) ** 0.45 for i in range(len(words))]
with open("data/corpus.txt", "w") as f:
    for d in range(16000):
        text = random.choices(words, w, k=random.randrange(160, 440))
        f.write(f"#DOC {d}\n")
        for i in range(0, len(text), 12):
            f.write(" ".join(text[i:i + 12]).capitalize() + ".\n")
