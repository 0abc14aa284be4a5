import random, os
random.seed(12)
os.makedirs("data", exist_ok=True)
A = "git apt get put sys ctl log net ssh scp cat sort uni mk rm dir file conf stat top perf dump mount swap user group lvm vg pv ip rt".split()
C = sorted({random.choice(A) + random.choice(["", "-"]) + random.choice(A) for _ in range(900)})
open("data/commands.txt", "w").write("\n".join(C) + "\n")
with open("data/history.txt", "w") as f:
    for i in range(12000):
        w = list(random.choice(C))
        for _ in range(random.randrange(3)):
            k = random.randrange(len(w)); w[k] = random.choice("abcdefgst")
        f.write(random.choice(["", "", "sudo "]) + "".join(w) + f" -v arg{i}\n")
