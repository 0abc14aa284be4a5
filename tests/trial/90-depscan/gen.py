import os, random
random.seed(90)
os.makedirs("data/src", exist_ok=True)
words = "core util net text geo math json io gui audio cache pool task log".split()
dirs = [f"{random.choice(words)}{i:02}" for i in range(36)]
headers = []
for i in range(800):
    d = random.choice(dirs)
    headers.append((d, f"{random.choice(words)}_{i}" + random.choice([".h", ".h", ".hpp", ""])))
for i, (d, h) in enumerate(headers):
    os.makedirs(f"data/{d}", exist_ok=True)
    below = random.sample(range(max(0, i - 160), i), min(i, random.randrange(0, 7)))
    with open(f"data/{d}/{h}", "w") as f:
        f.write(f"// {h}\n#pragma once\n")
        for b in below:
            f.write(f"#include <{headers[b][1]}>\n")
        for n in range(random.randrange(5, 25)):
            f.write(f"int {random.choice(words)}_{i}_{n}(const char *name, int flags); /* {random.choice(words)} */\n")
with open("data/compile_commands.txt", "w") as f:
    for u in range(330):
        name = f"data/src/{random.choice(words)}_{u}.cc"
        with open(name, "w") as s:
            for h in random.sample(headers, random.randrange(3, 8)):
                s.write(f"#include \"{h[1]}\"\n")
            s.write("// #include <old.h>\n")
            for n in range(40):
                s.write(f"int {random.choice(words)}{n}() {{ return {random.randrange(1000)}; }} // {random.choice(words)}\n")
        f.write(name + " " + " ".join("-Idata/" + d for d in random.sample(dirs, len(dirs))) + "\n")
