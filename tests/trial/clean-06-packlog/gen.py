import random, os
random.seed(106)
os.makedirs("data", exist_ok=True)
with open("data/service.log", "w") as f:
    for i in range(620000):
        f.write(f"2024-05-01T12:{i//1000%60:02}:{i%60:02} INFO worker-{random.randrange(16)} request id={random.getrandbits(48):012x} path=/api/v{random.randrange(3)}/items/{random.randrange(9999)} took={random.randrange(900)}ms\n")
