import random, os
random.seed(18)
T = ["Adapta", "Papirus", "Breeze", "hicolor"]
S = ["48x48", "64x64", "32x32", "24x24", "22x22", "16x16", "128x128", "256x256", "scalable"]
C = ["apps", "actions", "categories", "devices", "mimetypes", "places", "status"]
for t in T:
    for s in S:
        for c in C: os.makedirs(f"data/icons/{t}/{s}/{c}", exist_ok=True)
names = [f"org.example.App{i}" for i in range(900)]
for n in names[:600]:
    t = random.choice(T[1:])
    with open(f"data/icons/{t}/{random.choice(S)}/{random.choice(C)}/{n}.{random.choice(['svg','png'])}", "w") as f: f.write("x" * random.randrange(300, 3000))
with open("data/applications.list", "w") as f:
    for i in range(2200):
        n = random.choice(names); f.write(f"[{n}\nName=App {i}\nIcon={n}\nExec=app{i}\n")
