import os, random
random.seed(114)
os.makedirs("data", exist_ok=True)
t = 1690000000
with open("data/result.tsv", "w") as f:
    f.write("order_id:INT\tplaced:TIMESTAMP_TZ\tshipped:TIMESTAMP_TZ\tamount:FIXED2\tregion:TEXT\n")
    for i in range(100000):
        t += random.randrange(1, 400)
        s = "" if random.random() < .1 else f"{t + random.randrange(3000, 400000)}.{random.randrange(1000):03d}"
        f.write(f"{i}\t{t}.{random.randrange(1000):03d}\t{s}\t{random.randrange(100, 90000)}\t{random.choice(['north', 'south', 'east', 'west'])}\n")
