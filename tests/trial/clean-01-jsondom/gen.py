import random, os, json
random.seed(101)
os.makedirs("data", exist_ok=True)
d = [dict(id=i, name=f"item {i}", tags=[random.choice(["red","green","blue"]) for _ in range(4)], details=dict(price=round(random.random()*100, 2), weight=i % 50, origin="ch", ok=True, alt=None)) for i in range(780000)]
json.dump(d, open("data/export.json", "w"))
