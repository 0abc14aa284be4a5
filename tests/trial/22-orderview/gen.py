import random, os, json
random.seed(22)
os.makedirs("data", exist_ok=True)
c = [dict(id=i, name=f"Customer {i}", city=random.choice(["Bern","Basel","Zug","Chur","Thun"]), note="n"*40) for i in range(2500)]
p = [dict(id=i, name=f"Product {i}", price=random.randrange(50,90000), text="t"*60) for i in range(1500)]
o = [dict(id=i, customer=random.randrange(2500), items=[dict(product=random.randrange(1500), qty=random.randrange(1,9)) for _ in range(random.randrange(1,7))]) for i in range(12000)]
for n, d in [("customers", c), ("products", p), ("orders", o)]: json.dump(d, open(f"data/{n}.json", "w"))
