import random, os
random.seed(32)
os.makedirs("data", exist_ok=True)
routes = ["/api/v1/" + r for r in "users orders items search login logout cart checkout health stats export import".split()]
with open("data/samples.txt", "w") as f:
    for i in range(1000000):
        f.write(f"{1700000000 + i // 100} {random.choice(routes)} {random.choice(['GET','GET','GET','POST','PUT'])} "
                f"{random.choice([200,200,200,200,204,302,404,500])} pod-{random.randrange(30)} {random.randrange(1, 90000)}\n")
