import random, os
random.seed(21)
os.makedirs("data", exist_ok=True)
with open("data/jobs.txt", "w") as f:
    f.write("# job units dependencies\n")
    for i in range(120):
        deps = {f"compile-{random.randrange(max(0,i-5), i)}" for _ in range(2)} if i else set()
        f.write(f"compile-{i} {random.randrange(400000, 2400000)} {' '.join(sorted(deps))}\n")
