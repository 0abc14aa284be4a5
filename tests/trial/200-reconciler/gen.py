#!/usr/bin/env python3
"""Writes data/events.jsonl, a recorded watch stream of a cluster."""
import json
import os
import random

rnd = random.Random(99)
os.makedirs("data", exist_ok=True)
NODES = ["node-%02d" % i for i in range(24)]


def pod(i, ver):
    return {
        "kind": "Pod", "namespace": "ns%d" % (i % 7), "name": "app-%04d" % i, "resourceVersion": ver,
        "labels": {"app": "app%d" % (i % 40), "tier": rnd.choice(["web", "db", "job"]), "team": "t%d" % (i % 5)},
        "annotations": {"checksum/config": "%016x" % rnd.getrandbits(64), "owner": "deploy-%d" % (i % 60)},
        "spec": {
            "nodeName": rnd.choice(NODES), "priority": rnd.choice([0, 0, 100, 1000]),
            "containers": [
                {"name": "c%d" % k, "image": "registry/app%d:%d" % (i % 40, rnd.randrange(3)),
                 "env": {"VAR%d" % e: str(rnd.randrange(100)) for e in range(4)},
                 "ports": [8000 + k, 9000 + k],
                 "cpuMilli": rnd.choice([50, 100, 250, 500]), "memMi": rnd.choice([64, 128, 512])}
                for k in range(1 + i % 3)],
        },
        "status": {"phase": rnd.choice(["Pending", "Running", "Running", "Running", "Failed"]),
                   "restarts": rnd.randrange(3),
                   "conditions": [{"type": t, "status": rnd.choice(["True", "False"]), "reason": ""}
                                  for t in ("Ready", "Scheduled", "Initialized")]},
    }


N = 600
cur = {}
ver = 0
with open("data/events.jsonl", "w") as f:
    for n in range(22000):
        i = rnd.randrange(N)
        ver += 1
        if i not in cur:
            cur[i] = pod(i, ver)
            ev = "ADDED"
        elif rnd.random() < 0.01:
            cur[i]["resourceVersion"] = ver
            f.write(json.dumps({"type": "DELETED", "object": cur.pop(i)}) + "\n")
            continue
        else:
            ev = "MODIFIED"
            o = cur[i]
            o["resourceVersion"] = ver
            r = rnd.random()
            if r < 0.5:
                o["status"]["phase"] = rnd.choice(["Running", "Failed", "Pending"])
                o["status"]["conditions"][0]["status"] = rnd.choice(["True", "False"])
            elif r < 0.7:
                o["status"]["restarts"] += 1
            elif r < 0.8:
                o["spec"]["nodeName"] = rnd.choice(NODES)
            elif r < 0.9:
                o["annotations"]["checksum/config"] = "%016x" % rnd.getrandbits(64)
        f.write(json.dumps({"type": ev, "object": cur[i]}) + "\n")
