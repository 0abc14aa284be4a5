import random, time
random.seed(41)
sensors = ["%s-%03d" % (k, i) for k in ("temp", "hum", "press", "flow") for i in range(12)]
R = random.random
t = 1546300800
with open("measurements.tsv", "w") as f:
    for _ in range(1150000):
        t += random.randrange(12)
        r = R()
        g = time.gmtime(t)
        if r < .04: ts = random.choice(["", "\\N", "unknown", "0000-00-00 00:00:00", "now"])
        elif r < .3: ts = str(t)
        elif r < .5: ts = time.strftime("%d.%m.%Y %H:%M", g)
        else: ts = time.strftime("%Y-%m-%d %H:%M:%S", g)
        r = R()
        v = random.choice(["NaN", "-", "", "ERR", "n/a"]) if r < .12 else "%.3f" % random.gauss(20, 15)
        r = R()
        q = random.choice(["", "-", "good", "\\N"]) if r < .35 else str(random.randrange(101))
        f.write("%s\t%s\t%s\t%s\n" % (random.choice(sensors), ts, v, q))
