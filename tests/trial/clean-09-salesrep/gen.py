import random, os
from datetime import date, timedelta
random.seed(109)
os.makedirs("data", exist_ok=True)
with open("data/stores.csv", "w") as f:
    f.write("store,region,city\n" + "".join(f"S{i},{random.choice(['north','south','east','west'])},City {i}\n" for i in range(120)))
with open("data/products.csv", "w") as f:
    f.write("product,group,price\n" + "".join(f"P{i},{random.choice(['food','tools','garden','books','toys'])},{random.randrange(100,9000)/100}\n" for i in range(2000)))
with open("data/sales.csv", "w") as f:
    f.write("day,store,product,qty,discount\n")
    for i in range(640000):
        f.write(f"{date(2023,1,1)+timedelta(days=i*700//640000)},S{random.randrange(121)},P{random.randrange(2010)},{random.randrange(1,9)},{random.choice(['0','0','0.1','0.25'])}\n")
