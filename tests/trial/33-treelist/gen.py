import random, os
random.seed(33)
os.makedirs("data", exist_ok=True)
stem = "report Invoice photo IMG draft Notes README main Makefile config Backup archive Data chart Übersicht ÉTUDE summary test Фотография Отчёт Größenübersicht Präsentation".split()
ext = "txt md rs TOML jpg JPG png pdf PDF csv tar.gz lock json".split()
with open("data/listing.txt", "w") as f:
    for i in range(420000):
        d = f"home/User{random.randrange(40)}/Projects/Area_{random.randrange(60)}"
        n = f"{random.choice(stem)}_{random.choice(stem)}_{random.randrange(100000)}.{random.choice(ext)}"
        f.write(f"{d}/{n}\t{random.randrange(1 << 22)}\t{random.choice('fffffdl')}\t{1600000000 + random.randrange(10**8)}\n")
