import os, random
random.seed(102)
os.makedirs("data", exist_ok=True)
w = "mx smtp imap relay edge ns vpn wiki jobs stats store push".split()
names = [f"{random.choice(w)}{random.randrange(60)}.{random.choice(['lab', 'office', 'dc1', 'dc2'])}.example" for _ in range(110)]
with open("data/hosts.txt", "w") as f:
    for i in range(3000):
        f.write(random.choice(names) + f" {random.choice([25, 80, 443, 993])}\n")
