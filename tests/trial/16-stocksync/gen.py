import random, os
random.seed(16)
os.makedirs("data", exist_ok=True)
with open("data/movements.csv", "w") as f:
    for i in range(5500):
        f.write(f"{20240101+i//50},SKU{random.randrange(400):05d},{random.choice(['zurich','bern','basel','geneva'])},{random.randrange(-20,30)}\n")
