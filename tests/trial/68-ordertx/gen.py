import random, os
random.seed(68)
os.makedirs("data", exist_ok=True)
with open("data/orders.csv", "w") as f:
    f.write("session,order,item,quantity,cents\n")
    for i in range(15000):
        f.write(f"{random.randrange(8)},{100000 + i},{random.randrange(60)},{random.randrange(1, 12)},{random.randrange(99, 25000)}\n")
