import os, random
random.seed(131)
os.makedirs("data", exist_ok=True)
w = "core util main lib parse node cache table index store query merge async frame".split()
e = "rs o rlib toml md json c h".split()
n = 0
with open("data/tree.txt", "w") as f:
    f.write("root/ 0 1\n")
    def level(depth, width):
        global n
        for i in range(width):
            n += 1
            if depth < 5 and random.random() < .5 or depth == 1:
                f.write(" " * depth + f"{random.choice(w)}{i}/ 0 {0 if random.random() < .002 else n + 10}\n")
                level(depth + 1, random.randrange(5, 22))
            else:
                f.write(" " * depth + f"{random.choice(w)}_{random.choice(w)}{random.randrange(99)}.{random.choice(e)} {int(random.paretovariate(1) * 300)} {n + 10}\n")
    level(1, 24)
