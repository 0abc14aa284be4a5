import random, os
random.seed(69)
os.makedirs("data", exist_ok=True)
regions = ["North", "South", "East & Overseas", "West", "Central <old>"]
with open("data/sheet.csv", "w") as f:
    f.write("Invoice;Region;Customer;Date;Net;Tax;Gross;Note\n")
    for i in range(1700):
        net = random.randrange(-20000, 900000) / 100
        note = random.choice(["", "", "", "paid", "reminder sent", 'said "later"', "see A&B", "=E%d*2" % (i + 1)])
        f.write(f"R{i:05};{random.choice(regions)};Customer {random.randrange(400)};2024-{random.randrange(1, 13):02}-{random.randrange(1, 29):02};{net:.2f};;;{note}\n")
