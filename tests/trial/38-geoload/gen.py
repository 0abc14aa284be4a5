import random, os, math
random.seed(38)
os.makedirs("data", exist_ok=True)
with open("data/regions.json", "w") as f:
    f.write("[\n")
    N = 2700
    for i in range(N):
        cx, cy, r = random.uniform(-170, 170), random.uniform(-80, 80), random.uniform(.2, 3)
        k = random.randrange(20, 40)
        pts = ",".join("[%.6f,%.6f]" % (cx + r * math.cos(6.283 * j / k) * random.uniform(.8, 1.2), cy + r * math.sin(6.283 * j / k)) for j in range(k))
        f.write('{"region-%d": [%s]}%s\n' % (i, pts, "," if i < N - 1 else ""))
    f.write("]\n")
