import os, random
random.seed(94)
os.makedirs("data", exist_ok=True)
streets = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ironwood", "Juniper"]
with open("data/stops.csv", "w") as f:
    f.write("region,stop,line,name,lat,lon,minute,load\n")
    for r in range(44):
        for s in range(105):
            lat, lon = 47 + random.random(), 7 + random.random()
            name = f"{random.choice(streets)} {random.choice(['Street', 'Square', 'Bridge', 'Park'])} {random.randrange(90)}"
            for l in random.sample(range(40), random.randint(1, 4)):
                for m in range(random.randrange(300, 360), 1380, random.choice([30, 40, 60])):
                    f.write(f"{r},{r * 1000 + s},{l},{name},{lat:.5f},{lon:.5f},{m},{random.randrange(120)}\n")
