import random, os
random.seed(10)
os.makedirs("data", exist_ok=True)
with open("data/queue.txt", "w") as f:
    for i in range(160):
        f.write(f"hooks{random.randrange(10,20)}.example.com {random.choice(['order.created','order.paid','refund.issued'])} {i} {random.randrange(5000,9000)}\n")
