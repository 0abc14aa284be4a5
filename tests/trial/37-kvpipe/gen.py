import random, os
random.seed(37)
os.makedirs("data", exist_ok=True)
with open("data/pipeline.txt", "w") as f:
    for i in range(850000):
        k = f"user:{random.randrange(30000)}:visits"
        c = random.random()
        f.write(f"GET {k}\r\n" if c < .6 else f"ADD {k} {random.randrange(9)}\r\n" if c < .8 else f"SET {k} {random.randrange(99999)}\r\n" if c < .999 else "PING\r\n")
