import random, os
random.seed(111)
os.makedirs("data", exist_ok=True)
with open("data/readings.csv", "w") as f:
    for i in range(900000):
        f.write(f"{random.randrange(200)},{1700000000+i},{random.gauss(20,6):.3f},{'ok' if random.random()<.97 else 'bad'}\n")
