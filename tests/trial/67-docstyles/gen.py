import random, os
random.seed(67)
os.makedirs("data", exist_ok=True)
props = {"font": ["Liberation Serif", "Liberation Sans", "DejaVu Sans", "Carlito", "Courier"], "size": list(range(8, 28)), "weight": [400, 700], "posture": ["none", "italic"],
         "color": ["000000", "333333", "c00000", "0000c0"], "lang": ["en-GB", "en-US", "de-DE", "fr-FR"], "underline": ["none", "single"], "kerning": [0, 1], "spacing": list(range(-2, 5)), "hidden": [0, 1]}
with open("data/report.txt", "w") as f:
    f.write("style Default\n")
    for k, v in props.items():
        if k not in ("spacing", "hidden"): f.write(f" {k}={v[0]}\n")
    names = {0: ["Default"]}
    for level in range(1, 4):
        names[level] = []
        for i in range(10):
            n = f"Style_{level}_{i}"
            names[level].append(n)
            f.write(f"style {n} {random.choice(names[level - 1])}\n")
            for k in random.sample(list(props), random.randrange(1, 3)):
                f.write(f" {k}={random.choice(props[k])}\n")
    every = sum(names.values(), [])
    for p in range(8000):
        f.write(f"paragraph {random.choice(every)}\n")
        for r in range(random.randrange(3, 14)):
            own = random.sample(list(props), random.choice((0, 0, 1, 2)))
            f.write("run " + str(random.randrange(1, 60)) + "".join(f";{k}={random.choice(props[k])}" for k in own) + "\n")
