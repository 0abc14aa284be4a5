import hashlib, os, random
random.seed(88)
os.makedirs("data/versions", exist_ok=True)
lts = {4: "Argon", 6: "Boron", 8: "Carbon", 10: "Dubnium", 12: "Erbium", 14: "Fermium", 16: "Gallium", 18: "Hydrogen", 20: "Iron"}
rows = []
for major in range(0, 22):
    for minor in range(random.randrange(6, 12)):
        for patch in range(random.randrange(1, 4)):
            rows.append((major, minor, patch))
random.shuffle(rows)
with open("data/index.tab", "w") as f:
    f.write("version\tdate\tnpm\tv8\tlts\tsecurity\n")
    for ma, mi, pa in rows:
        name = lts.get(ma, "-") if mi >= 3 else "-"
        f.write(f"v{ma}.{mi}.{pa}\t20{10 + ma // 2}-{1 + mi % 12:02}-{1 + pa * 9:02}\t{ma // 2}.{mi}.{pa}\t{ma}.{mi}\t{name}\t{random.choice(('true', 'false'))}\n")
inst = random.sample(rows, 45)
for ma, mi, pa in inst:
    d = f"data/versions/v{ma}.{mi}.{pa}"
    os.makedirs(d + "/bin", exist_ok=True)
    body = random.randbytes(500000)
    open(d + "/bin/node", "wb").write(body)
    open(d + "/SHASUMS256.txt", "w").write(hashlib.sha256(body).hexdigest() + "  bin/node\n")
os.makedirs("data/alias", exist_ok=True)
current = max(inst)
open("data/alias/default", "w").write("lts/hydrogen\n")
open("data/alias/current", "w").write("v%d.%d.%d\n" % current)
open("data/alias/work", "w").write("v%d.%d.%d\n" % inst[3])
