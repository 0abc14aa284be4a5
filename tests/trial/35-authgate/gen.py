import random, os
random.seed(35)
os.makedirs("data", exist_ok=True)
v = "get list create update delete watch".split()
with open("data/policy.conf", "w") as f:
    for i in range(60):
        f.write(f"role team{i} \n")
        for k in range(random.randrange(4, 9)):
            f.write(f"allow {random.choice(v)} /project/area{random.randrange(40)}/unit{random.randrange(9)}\n")
with open("data/requests.txt", "w") as f:
    for i in range(100000):
        f.write(f"user{random.randrange(500)} team{random.randrange(60)} {random.choice(v)} /project/area{random.randrange(40)}/unit{random.randrange(9)}/item{random.randrange(1000)}\n")
