import os, random
random.seed(81)
os.makedirs("data", exist_ok=True)
words = "web api cache queue worker index search billing audit auth mail media report batch edge proxy stage ledger router metric".split()
kinds = ["instance", "volume", "network", "bucket", "role", "policy"]
regions = ["eu-west", "eu-north", "us-east", "ap-south"]
out, names, nvars = [], [], 760
out.append("# generated from the inventory, do not edit\n\n")
for v in range(nvars):
    name = f"{random.choice(words)}_{random.choice(words)}_{v}"
    names.append(name)
    out.append(f'variable "{name}" {{\n  default = {random.randrange(1, 64)} * {random.choice((1, 2, 4, 8))}\n  description = "{random.choice(words)} {random.choice(words)} size"\n}}\n\n')
res = []
for r in range(800):
    kind, name = random.choice(kinds), f"{random.choice(words)}_{r}"
    ref = "var." + random.choice(names)
    if random.random() < 0.5:                  # a misspelt reference
        i = random.randrange(5, len(ref) - 2)
        ref = ref[:i] + random.choice("xzq") + ref[i + 1:]
    out.append(f'resource "{kind}" "{name}" {{\n')
    out.append(f'  region = "{random.choice(regions)}"\n')
    out.append(f'  size = {ref} * 2 + {random.randrange(9)}\n')
    if random.random() < 0.1:
        out.append(f'  size = {random.randrange(100)}\n')
    if res:
        a, b = random.choice(res), random.choice(res)
        out.append(f'  after = [{a[0]}.{a[1]}, {b[0]}.{b[1]}]\n')
    out.append(f'  limit = max({random.randrange(100)}, min({random.randrange(100)}, var.{random.choice(names)}), 3)\n')
    out.append('  tags {\n' + "".join(f'    {random.choice(words)}_{i} = "{random.choice(words)}"\n' for i in range(random.randrange(2, 5))) + '  }\n}\n\n')
    res.append((kind, name))
open("data/site.conf", "w").write("".join(out))
