import json, os, random
random.seed(223)
os.makedirs("data", exist_ok=True)
words = "steel oak walnut lamp table chair shelf garden kitchen compact large light outdoor folding classic modern blue green travel".split()
with open("data/catalog.jsonl", "w") as f:
    for i in range(20000):
        f.write(json.dumps(dict(id=i, name=" ".join(random.sample(words, 3)), cents=random.randrange(100, 90000), tags=random.sample(words, 4),
                                stock={w: random.randrange(40) for w in random.sample(["BER", "PAR", "ROM", "OSL", "MAD"], 3)})) + "\n")
