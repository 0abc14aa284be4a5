import random, os
random.seed(7)
os.makedirs("data", exist_ok=True)
hosts = [f"www{i}.example.org" for i in range(12)]
with open("data/routes.conf", "w") as f:
    for i in range(24):
        f.write(f"route {hosts[i%12]} {'exact' if i%5==0 else 'prefix'} /svc{i//6}/ pool{i%8} X-Route-Id=r{i} X-Frame-Options=DENY Cache-Control=max-age=60\n")
    for u in range(8):
        f.write(f"upstream pool{u} {u%3+1} " + " ".join(f"10.0.{u}.{k}:8080" for k in range(4)) + "\n")
with open("data/requests.log", "w") as f:
    for i in range(260000):
        f.write(f"{random.choice(['GET','POST'])} {random.choice(hosts)} /svc{random.randrange(5)}/item/{random.randrange(9999)}\n")
