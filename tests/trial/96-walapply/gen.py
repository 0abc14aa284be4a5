import os, random
random.seed(96)
os.makedirs("data", exist_ok=True)
lsn, txid = 0x16B3748, 700
tables = ["accounts", "orders", "order_items", "stock", "audit"]
words = "fast delivery gift wrapped return promised O'Neil manager called twice customer's reply late again".split()
with open("data/changes.wal", "w") as f:
    n = 0
    while n < 230000:
        txid += 1
        f.write(f"BEGIN {txid} {lsn:X}\n")
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            lsn += random.randrange(60, 300); n += 1
            t = random.choice(tables); key = random.randrange(9000)
            kind = random.choices("IUD", (5, 6, 1))[0]
            if kind == "D":
                f.write(f"D {lsn:X} {t} id={key}\n")
            else:
                f.write(f"{kind} {lsn:X} {t} id={key}\tamount={random.randrange(100000)}\tnote={' '.join(random.choice(words) for _ in range(random.randint(2, 9)))}\tstate={random.choice(('new', 'open', 'done'))}\n")
        lsn += 48
        f.write(f"COMMIT {txid} {lsn:X}\n")
