import random, os
random.seed(76)
os.makedirs("data", exist_ok=True)
types = {"net": ["cidr", "zone", "mtu", "label"], "subnet": ["cidr", "net", "zone", "label"], "disk": ["size", "kind", "zone", "label"],
         "vm": ["image", "subnet", "disk", "size", "zone", "user_data", "label"], "rule": ["net", "from", "to", "port"], "record": ["name", "target", "ttl"]}
with open("data/config.tfx", "w") as f, open("data/state.tfx", "w") as g:
    for v in range(30): f.write(f"variable v{v} {random.choice(['eu-1', 'us-2', 'prod', 'small', 'x' * 20])}\n")
    made = []
    for i in range(21000):
        t = random.choice(list(types))
        lines, old = [], []
        for a in types[t]:
            k = random.random()
            if k < 0.35 and made: v = f"${{{random.choice(made[-120:])}.id}}-{random.randrange(99)}"
            elif k < 0.5 and made: v = f"${{{random.choice(made[-400:])}.label}}"
            elif k < 0.7: v = f"${{var.v{random.randrange(30)}}}/{random.randrange(50)}"
            else: v = str(random.getrandbits(30)) * (3 if a == "user_data" else 1)
            lines.append(f" {a} = {v}\n")
            if random.random() < 0.9: old.append(f" {a} = {v if '$' not in v else 'unknown'}\n")
        name = f"{t}.r{i}"
        made.append(name)
        f.write(f"resource {name}\n" + "".join(lines))
        if random.random() < 0.85: g.write(f"resource {name}\n" + "".join(old))
