import os, random
random.seed(127)
os.makedirs("data", exist_ok=True)
with open("data/module.ir", "w") as f:
    for k, n in enumerate([300, 700, 46000, 1200, 38000, 500]):
        f.write(f"func f{k}\n%a arg\n%v0 const 3\n")
        for i in range(1, n):
            back = lambda: f"%v{random.randrange(max(0, i - 60), i)}"
            r = random.random()
            if r < .12: f.write(f"%v{i} const {random.randrange(1000)}\n")
            elif r < .14: f.write(f"%v{i} call {back()} %a\n")
            elif r < .2: f.write(f"%v{i} phi {back()} {back()}\n")
            elif r < .22: f.write(f"%v{i} add {back()} %a\n")
            else: f.write(f"%v{i} {random.choice(['add', 'mul', 'xor'])} {back()} {back()}\n")
        f.write(f"%r ret %v{n - 1} %v{n // 2}\n")
