import os, random
random.seed(136)
os.makedirs("data", exist_ok=True)
w = "ads track stat pixel click beacon promo banner media count tag sync metric log cdn edge img api".split()
def host(): return f"{random.choice(w)}{random.randrange(4000)}.{random.choice(w)}{random.randrange(900)}.{random.choice(['example', 'test', 'invalid', 'net.example'])}"
hosts = [host() for _ in range(180000)]
with open("data/rules.txt", "w") as f:
    for i, h in enumerate(hosts):
        f.write(("@@||" if i % 40 == 0 else "||") + h + "^" + ("$client=" + random.choice(w) if i % 25 == 0 else "") + "\n")
with open("data/events.txt", "w") as f:
    for i in range(22):
        f.write(f"set {random.choice(w)} block {host()}\n")
        for k in range(30000): f.write(f"query {random.choice(w)} {random.choice(hosts) if k % 3 else host()}\n")
