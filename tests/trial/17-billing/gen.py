import random, os
random.seed(17)
os.makedirs("data", exist_ok=True)
with open("data/tariffs.ini", "w") as f:
    f.write("[general]\nrounding_seconds = 60\ncurrency = EUR\n\n[vat]\nde = 0.19\nfr = 0.20\nch = 0.081\n\n")
    for p in range(12):
        f.write(f"[plan:p{p}]\nvoice = 0.{p+10}\ndata = 0.00{p+1}\nsms = 0.0{p%9+1}\n; comment\nroaming = 1.{p}\n\n")
with open("data/usage.csv", "w") as f:
    f.write("customer,plan,kind,country,amount\n")
    for i in range(5000):
        f.write(f"C{random.randrange(900):05d},p{random.randrange(13)},{random.choice(['voice','data','sms'])},{random.choice(['de','fr','ch','it'])},{random.randrange(1,5000)}\n")
