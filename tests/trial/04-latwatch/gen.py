import random, os
random.seed(4)
os.makedirs("data", exist_ok=True)
EP = ["/login", "/search", "/cart", "/api/items", "/api/users", "/static"]
with open("data/access.log", "w") as f:
    for i in range(20000):
        f.write(f"{1700000000+i} {random.choice(EP)} {random.choice([200]*40+[404,500])} {random.lognormvariate(3,0.8):.1f}\n")
