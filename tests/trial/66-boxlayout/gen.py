import random, os
random.seed(66)
os.makedirs("data", exist_ok=True)
words = "open close save the of and for item list order total price user account settings more less next previous search result page help about a to in".split()
def text(n): return "text " + " ".join(random.choice(words) for _ in range(n))
def node(depth, out, indent):
    pad = " " * indent
    if depth == 0:
        out.append(pad + text(random.randrange(1, 14)))
        return
    kind = "row" if depth % 2 else "column"
    out.append(f"{pad}{kind} pad={random.randrange(0, 4)} gap={random.randrange(0, 6)} grow={random.randrange(0, 3)}")
    for i in range(random.choice((1, 2))):
        out.append(" " * (indent + 1) + text(random.randrange(1, 6)))
    node(depth - 1, out, indent + 1)
    if random.random() < 0.25:
        node(max(0, depth - 3), out, indent + 1)
with open("data/screens.txt", "w") as f:
    for s in range(60):
        out = [f"screen {random.choice((360, 768, 1024, 1280))} s{s}"]
        node(random.choice((8, 10, 11, 12, 14)), out, 1)
        f.write("\n".join(out) + "\n")
