"""The environment files of many services."""

import os
import random

random.seed(1)
os.mkdir("services")
names = [f"{part}_{kind}" for part in ("DB", "CACHE", "MAIL", "QUEUE", "SEARCH", "METRICS", "AUTH", "FILES") for kind in ("HOST", "PORT", "USER", "KEY", "URL", "TIMEOUT", "POOL")]
for service in range(1800):
    lines = ["# settings of this service", f"SERVICE=service{service}"]
    for name in random.sample(names, random.randrange(30, len(names))):
        kind = name.split("_")[1]
        value = {
            "HOST": f"{name.lower().split('_')[0]}.internal.example",
            "PORT": str(random.randrange(5000, 5010)),
            "USER": '"${SERVICE}"',
            "KEY": f"'{random.choice(['test', 'live', 'live', 'live'])}-{random.getrandbits(64):x}'",
            "URL": f'"https://{name.lower().split("_")[0]}.example/v1?from=$SERVICE"',
            "TIMEOUT": f"{random.randrange(1, 60)}s # seconds",
            "POOL": str(random.randrange(1, 20)),
        }[kind]
        lines.append(f"{name}={value}")
    with open(f"services/service{service:04}.env", "w") as file:
        file.write("\n".join(lines) + "\n")
