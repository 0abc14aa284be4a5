import json, os, random
random.seed(111)
os.makedirs("data", exist_ok=True)
names = "morning run,lake loop,commute,hill repeats,long ride,recovery,race,walk with dog".split(",")
def track(i):
    lat, lon, t = 47 + random.random(), 8 + random.random(), 1690000000 + i * 5000
    pts = []
    for k in range(random.randrange(60, 220)):
        lat += random.uniform(-3e-4, 3e-4); lon += random.uniform(-3e-4, 3e-4); t += random.randrange(1, 9)
        pts.append({"t": t, "lat": round(lat, 6), "lon": round(lon, 6), "ele": round(400 + 50 * random.random(), 1), "hr": random.choice([None, random.randrange(90, 180)])})
    return {"id": i, "name": random.choice(names), "tags": random.sample(["gps", "watch", "phone", "indoor"], 2), "private": random.random() < .2, "points": pts}
for part in range(8):
    with open(f"data/tracks{part}.json", "w") as f:
        json.dump([track(part * 100 + i) for i in range(150)], f)
