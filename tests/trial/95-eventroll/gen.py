import os, random
random.seed(95)
os.makedirs("data", exist_ok=True)
names = [f"svc-{random.choice(['auth', 'cart', 'search', 'mail', 'feed', 'media'])}-{i}" for i in range(400)]
t = 1700000000000
with open("data/events.log", "w") as f:
    for i in range(320000):
        t += random.randrange(9)
        f.write(f"{t} 10.{random.randrange(4)}.{random.randrange(90)}.{random.randrange(250)} {random.choice(names)} {random.choice(('GET', 'GET', 'GET', 'PUT', 'POST'))} /api/v{random.randrange(3)}/{random.choice('abcdefgh')}/{random.randrange(600)} {random.choice((200, 200, 200, 204, 304, 404, 500))} {random.randrange(12, 90000)}\n")
