import random, os
random.seed(15)
os.makedirs("data", exist_ok=True)
lat, lon, ele = 46.5, 7.9, 900.0
with open("data/track.csv", "w") as f:
    for i in range(95000):
        lat += random.gauss(0, 1e-5); lon += random.gauss(1e-6, 1e-5); ele += random.gauss(0, .3)
        f.write(f"{1700000000+i},{lat:.6f},{lon:.6f},{ele:.1f}\n")
