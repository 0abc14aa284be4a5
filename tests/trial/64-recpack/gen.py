import random, os
random.seed(64)
os.makedirs("data", exist_ok=True)
verbs = ["GET", "GET", "GET", "POST", "PUT", "DELETE"]
paths = ["/api/v1/items", "/api/v1/users", "/static/app.js", "/login", "/search", "/api/v2/orders", "/health"]
agents = ["Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/115.0", "curl/7.88.1", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36", "okhttp/4.11.0"]
with open("data/events.jsonl", "w") as f:
    for i in range(52000):
        p = random.choice(paths)
        if random.random() < 0.6: p += f"/{random.randrange(90000)}"
        f.write('{"ts":%d,"topic":"t%d","method":"%s","path":"%s","status":%d,"bytes":%d,"agent":"%s","trace":"%016x","note":"%s","spans":[%s]}\n' % (
            1700000000 + i, random.randrange(12), random.choice(verbs), p, random.choice([200, 200, 200, 304, 404, 500]), random.randrange(50000),
            random.choice(agents), random.getrandbits(64), "retry " * random.randrange(4),
            ",".join('{"span":%d,"service":"%s","micros":%d}' % (k, random.choice(["gateway", "auth", "store", "cache"]), random.randrange(9000)) for k in range(random.randrange(1, 6)))))
