import os, random
random.seed(103)
places = "lisbon oslo rome kyoto quito cairo delhi lima perth turin".split()
n = 0
for y in range(2008, 2024):
    for p in random.sample(places, 6):
        d = f"data/pictures/{y}/{p}/camera/originals"
        os.makedirs(d, exist_ok=True)
        for i in range(random.randrange(190, 270)):
            f = f"{d}/IMG_{n:05d}.{random.choice(['ppm', 'ppm', 'pgm', 'txt'])}"
            w, h = random.randrange(1, 20), random.randrange(1, 20)
            with open(f, "w") as o:
                o.write(f"P5\n{w} {h}\n255\n" + "x" * random.randrange(w * h))
            t = 1200000000 + (y - 2008) * 31536000 + random.randrange(31536000)
            os.utime(f, ns=(t * 10**9, t * 10**9 + random.randrange(10**9)))
            n += 1
