import random, os
random.seed(73)
os.makedirs("data", exist_ok=True)
# ids as a service makes them: milliseconds, number of the machine, and a sequence that counts what is made within one millisecond
def made(ms): return (ms - 1600000000000) << 22 | random.randrange(3) << 12 | (1 if random.random() < 0.01 else 0)
accounts = [made(1650000000000 + random.randrange(10**10)) for _ in range(160)]
kinds = ["invoice.paid", "invoice.created", "user.updated", "user.deleted", "build.finished"]
with open("data/events.txt", "w") as f:
    ms = 1700000000000
    for i in range(620):
        ms += random.randrange(1, 900)
        f.write(f"{made(ms)} {random.choice(accounts)} {random.choice(kinds)} " + "{" + f'"amount":{random.randrange(10000)},"note":"{random.getrandbits(60):x}"' + "}\n")
