#!/usr/bin/env python3
"""Writes data/layers/*.tar.gz and data/containers.json."""
import gzip
import io
import json
import os
import random
import tarfile

rnd = random.Random(3)
os.makedirs("data/layers", exist_ok=True)
WORDS = ["".join(rnd.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rnd.randint(2, 9))) for _ in range(3000)]
names = []
for n in range(8):
    buf = io.BytesIO()
    tar = tarfile.open(fileobj=buf, mode="w", format=tarfile.USTAR_FORMAT)
    for k in range(260):
        text = " ".join(rnd.choice(WORDS) for _ in range(rnd.randint(200, 12000))).encode()
        ti = tarfile.TarInfo("usr/share/%s/%s-%d" % (rnd.choice(WORDS), rnd.choice(WORDS), k))
        ti.size = len(text)
        ti.mode = rnd.choice([0o644, 0o755])
        ti.mtime = 1500000000 + k
        tar.addfile(ti, io.BytesIO(text))
    tar.close()
    name = "layer%d.tar.gz" % n
    with open("data/layers/" + name, "wb") as f:
        with gzip.GzipFile(filename="", fileobj=f, mode="wb", compresslevel=1, mtime=0) as z:
            z.write(buf.getvalue())
    names.append(name)
with open("data/containers.json", "w") as f:
    json.dump([{"name": "c%03d" % i, "image": names[:rnd.randint(1, 8)],
                "env": {"ID": str(i), "MODE": rnd.choice(["a", "b"])}, "restart": rnd.choice(["always", "no"])}
               for i in range(84)], f, indent=1)
