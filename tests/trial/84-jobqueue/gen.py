import os, random
random.seed(84)
os.makedirs("data", exist_ok=True)
names = set()
while len(names) < 140:
    names.add(random.choice("abcdefghjklmnprstw") + "".join(random.choice("aeiourstnlmk") for _ in range(random.randrange(4, 9))))
names = sorted(names)
random.shuffle(names)
uids = random.sample(range(1000, 4000), len(names))
with open("data/passwd", "w") as f:
    f.write("root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n")
    for n, u in zip(names, uids):
        f.write(f"{n}:x:{u}:{100 + u % 7}:{n.title()} {random.choice('ABCDEF')}.,,,:/home/{n}:/bin/{random.choice(('bash', 'zsh', 'sh'))}\n")
with open("data/jobs.txt", "w") as f:
    for j in range(11500):
        uid = random.choice(uids) if random.random() < 0.98 else random.randrange(5000, 5020)
        state = random.choices(["RUNNING", "PENDING", "COMPLETING", "SUSPENDED"], [5, 8, 1, 1])[0]
        nodes = random.choice([1, 1, 1, 2, 4, 8, 16, 64])
        start = random.randrange(3900)
        f.write(f"JobId={40000 + j} Name={random.choice(('sim', 'train', 'align', 'fold', 'render'))}-{random.randrange(500)} UserId={uid} Partition={random.choice(('short', 'long', 'gpu', 'debug'))} "
                f"State={state} Priority={random.randrange(1, 9999)} Nodes={nodes} Cpus={nodes * random.choice((8, 16, 32))} Elapsed={random.randrange(400000)} "
                f"NodeList={('n[%03d-%03d]' % (start, start + nodes - 1)) if state == 'RUNNING' else ''}\n")
