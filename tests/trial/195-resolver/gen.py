#!/usr/bin/env python3
"""Writes data/index.txt (a registry index) and data/roots.txt (the manifest)."""
import os
import random

rnd = random.Random(20190117)
N = 430
OTHER = 70000
FEATS = ["std", "alloc", "derive", "serde", "unstable", "simd", "tls", "log", "async", "full"]
os.makedirs("data", exist_ok=True)
names = ["%s-%s%d" % (rnd.choice(["lib", "rt", "net", "fmt", "io", "sys"]),
                      rnd.choice(["core", "util", "macro", "types", "impl"]), i) for i in range(N)]
lines = []
latest = {}
for i in range(N):
    nver = 1 if rnd.random() < 0.72 else rnd.randint(2, 6)
    feats = rnd.sample(FEATS, rnd.randint(2, 6))
    vers = []
    for v in range(nver):
        vers.append((1, v, rnd.randint(0, 9)))
    latest[i] = vers
    for v in vers:
        deps = []
        # only later packages, so that the graph has no cycles
        if i + 1 < N:
            for _ in range(rnd.randint(1, 7)):
                j = min(N - 1, i + 1 + int(rnd.expovariate(1 / 120.0)))
                deps.append(j)
        ds = []
        for j in sorted(set(deps)):
            ds.append("%s@^1.0:%s" % (names[j], "+".join(rnd.sample(FEATS, rnd.randint(1, 3)))))
        # a "links" key of which only one version may be in the graph
        lines.append("%s %d.%d.%d features=%s links=%s deps=%s" % (
            names[i], v[0], v[1], v[2], "+".join(feats),
            names[i] if rnd.random() < 0.05 else "-", ",".join(ds) or "-"))
# packages whose newest version asks for something that does not exist
for k in range(0, N, 60):
    i = k
    lines.append("%s 1.9.0 features=std links=- deps=%s@^7.0:std" % (names[i], names[min(N - 1, i + 3)]))
# the rest of the registry
for i in range(OTHER):
    deps = ",".join("%s@^1.%d:%s" % (rnd.choice(names), rnd.randint(0, 3), "+".join(rnd.sample(FEATS, 3)))
                    for _ in range(rnd.randint(1, 6)))
    lines.append("crate%d-%s %d.%d.%d features=%s links=- deps=%s" % (
        i // 4, rnd.choice(FEATS), rnd.randint(0, 2), i % 4, rnd.randint(0, 30),
        "+".join(rnd.sample(FEATS, 4)), deps))
rnd.shuffle(lines)
open("data/index.txt", "w").write("\n".join(lines) + "\n")
open("data/roots.txt", "w").write("\n".join("%s ^1.0 std" % names[i] for i in range(0, 40)) + "\n")
