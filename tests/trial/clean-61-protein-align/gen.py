import random
random.seed(62)
R = "ARNDCQEGHILKMFPSTWYV"
s = [random.choice(R) for _ in range(8500)]
with open("proteins.fa", "w") as f:
    for k in range(6):
        f.write(">prot%d synthetic\n" % k)
        t = "".join(s)
        for i in range(0, len(t), 70):
            f.write(t[i:i + 70] + "\n")
        out = []
        for c in s:
            r = random.random()
            if r < .45: out.append(random.choice(R))
            elif r < .4515: out += [random.choice(R) for _ in range(random.randint(1, 30))]
            elif r < .47: continue
            else: out.append(c)
        i = random.randrange(len(out) - 900)
        del out[i:i + random.randint(200, 900)]
        s = out
