"""The logs that the machines of a site wrote on one day."""

import os
import random

random.seed(1)
os.mkdir("logs")
for machine in range(160):
    with open(f"logs/machine{machine:02}.log", "w") as file:
        for second in range(0, 86_400, 4):
            status = random.choice([200, 200, 200, 304, 404])
            file.write(
                f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} machine{machine:02} app[{random.randrange(100, 9999)}]: "
                f"GET /article/{random.randrange(100_000)} {status} {random.randrange(200, 90_000)} bytes\n"
            )
