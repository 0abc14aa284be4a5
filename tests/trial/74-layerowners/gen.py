import random, os, tarfile, io
random.seed(74)
os.makedirs("data", exist_ok=True)
users = ["root", "daemon", "bin", "www-data", "postgres", "redis", "git", "nobody"] + [f"svc{i}" for i in range(240)]
random.shuffle(users)
groups = ["root", "staff", "adm", "www-data", "ssl-cert"] + [f"team{i}" for i in range(110)]
uid = {u: 0 if u == "root" else 100 + i for i, u in enumerate(users)}
gid = {g: 0 if g == "root" else 1000 + i for i, g in enumerate(groups)}
with open("data/passwd", "w") as f:
    f.write("# accounts of the image\n")
    for u in users:
        f.write(f"{u}:x:{uid[u]}:{gid[random.choice(groups)]}:{u.title()},,,:/home/{u}:/usr/sbin/nologin\n")
with open("data/group", "w") as f:
    for g in groups:
        f.write(f"{g}:x:{gid[g]}:{','.join(random.sample(users, random.randrange(12)))}\n")
for n in range(3):
    with tarfile.open(f"data/layer{n}.tar", "w") as t:
        for i in range(4200):
            m = tarfile.TarInfo(f"{random.choice(['usr/share', 'usr/lib', 'var/lib', 'opt/app', 'etc'])}/d{random.randrange(90)}/f{random.randrange(40)}_{random.choice('abc')}")
            body = bytes(random.getrandbits(8) for _ in range(random.randrange(20, 500)))
            m.size, m.mode, m.mtime = len(body), random.choice([0o644, 0o755, 0o600, 0o4755]), 1700000000 + i
            m.uname = random.choice(users) if random.random() < 0.9 else str(random.randrange(5000))
            m.gname = random.choice(groups) if random.random() < 0.8 else ""
            t.addfile(m, io.BytesIO(body))
