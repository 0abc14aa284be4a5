"""The part of a large machine's /proc that a list of processes needs."""

import os
import random

random.seed(1)
processors = 256
os.mkdir("proc")
with open("proc/stat", "w") as file:
    for name in ["cpu", *(f"cpu{number}" for number in range(processors))]:
        file.write(f"{name} " + " ".join(str(random.randrange(10_000_000)) for _ in range(8)) + " 0 0\n")
    file.write("intr 8812345678 " + " ".join(str(random.choice([0, 0, 0, random.randrange(9_000_000)])) for _ in range(6_000)) + "\n")
    file.write("ctxt 912345678901\nbtime 1718000000\nprocesses 8123456\nprocs_running 7\nprocs_blocked 0\n")
    file.write("softirq 7123456789 " + " ".join(str(random.randrange(900_000_000)) for _ in range(10)) + "\n")
for number in range(6_000):
    pid = 300 + number * 7
    os.mkdir(f"proc/{pid}")
    parent = 1 if number % 3 == 0 else 300
    started = number * 9_000 + random.randrange(5_000)
    used = f"{random.randrange(90_000)} {random.randrange(30_000)}"
    with open(f"proc/{pid}/stat", "w") as file:
        file.write(f"{pid} (worker) S {parent} {pid} {pid} 0 -1 4194560 900 0 3 0 {used} 0 0 20 0 1 0 {started} 9000000 800 18446744073709551615 ")
        file.write(" ".join("0" for _ in range(27)) + "\n")
