"""The records of services, as each service registered them; a few are wrong."""

import random

random.seed(1)
with open("services.txt", "w") as file:
    for number in range(45_000):
        name = f"service{number}.dc{number % 7}.example.com."
        life = random.choice([30, 60, 300, 3600])
        file.write(f"{name}\t{life}\tIN\tA\t10.{number % 250}.{number // 250 % 250}.{random.randrange(1, 250)}\n")
        file.write(f"_http._tcp.{name}\t{life}\tIN\tSRV\t10 {random.randrange(100)} {random.randrange(8000, 9000)} {name}\n")
        if number % 3 == 0:
            file.write(f'{name}\t{life}\tIN\tTXT\t"team={number % 40}" "version=1.{random.randrange(30)}"\n')
        if number % 400 == 0:
            file.write(f"{name}\t{life}\tIN\tA\tsomewhere\n")
