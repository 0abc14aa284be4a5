import os, random
random.seed(222)
os.makedirs("data", exist_ok=True)
with open("data/accounts.txt", "w") as f:
    for i in range(30000):
        f.write(f"acct:{i:06d} {random.randrange(100, 1000000)} {random.choice(['eu', 'us', 'ap'])} {random.getrandbits(60):x}\n")
