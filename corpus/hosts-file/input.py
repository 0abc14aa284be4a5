"""The hosts file of a site, about 300 KB, and a log that names many of its machines."""

import random

random.seed(1)
machines = [f"node{number}.rack{number // 40}.site.example" for number in range(7_000)]
with open("hosts", "w") as file:
    file.write("127.0.0.1 localhost\n# machines\n")
    for number, name in enumerate(machines):
        file.write(f"10.{number // 40 % 7}.{number // 40}.{number % 40 + 1}\t{name} {name.split('.')[0]}\n")
with open("access.log", "w") as file:
    for number in range(120_000):
        name = random.choice(machines[:3_000]) if number % 200 else f"guest{number}.example"
        path = f"/{random.choice(['images', 'packages', 'status'])}/{random.randrange(1000)}"
        file.write(f'{name} [01/Mar/2024:10:{number // 60 % 60:02}:{number % 60:02}] "GET {path} HTTP/1.1" 200 {random.randrange(90_000)}\n')
