import random, os
random.seed(47)
os.makedirs("data", exist_ok=True)
zones = ["domestic", "eu", "us", "asia", "rest"]
with open("data/rates.ini", "w") as f:
    f.write("[general]\ncurrency = EUR\nfuel_surcharge = 4.5\nround_to = 0.05\n\n")
    for z in zones:
        f.write(f"[zone:{z}]\nbase = {random.randrange(200, 2000) / 100}\nper_kg = {random.randrange(50, 700) / 100}\nmax_kg = {random.choice([20, 30, 40])}\n")
        for c in range(6): f.write(f"carrier_{c} = {random.randrange(80, 140) / 100}\n")
        f.write("\n")
with open("data/orders.csv", "w") as f:
    f.write("order,zone,carrier,kg,value\n")
    for i in range(1500):
        f.write(f"A{i:06},{random.choice(zones)},{random.randrange(6)},{random.randrange(1, 4500) / 100},{random.randrange(500, 90000) / 100}\n")
