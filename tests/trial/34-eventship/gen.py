import random, os
random.seed(34)
os.makedirs("data", exist_ok=True)
with open("data/events.txt", "w") as f:
    for i in range(38000):
        f.write(f"tenant-{random.randrange(300)} {random.choice('get get get list watch create update delete'.split())} "
                f"/apis/apps/v1/deployments/web-{random.randrange(900)} {random.choice([200,200,200,201,403,404])} {1700000000 + i}\n")
