import random, os
random.seed(70)
os.makedirs("data", exist_ok=True)
traits = ["Clone", "Debug", "Eq", "Hash", "Ord", "Send", "Serialize"]
prims = ["u8", "u32", "i64", "bool", "String", "f64", "Handle"]
with open("data/crate.txt", "w") as f:
    for p in prims:
        for t in traits:
            if p == "f64" and t in ("Eq", "Hash", "Ord"): continue
            if p == "Handle" and t in ("Clone", "Serialize", "Send"): continue
            f.write(f"impl {t} for {p}\n")
    needs = {"Clone": ["Clone"], "Debug": ["Debug"], "Eq": ["Eq", "Debug"], "Hash": ["Hash", "Eq"], "Ord": ["Ord", "Eq"], "Send": ["Send"], "Serialize": ["Serialize", "Clone", "Eq"]}
    for head, params in (("Vec", "T"), ("Option", "T"), ("Box", "T"), ("Rc", "T"), ("Map", "K V"), ("Result", "K V"), ("Pair", "K V")):
        ps = params.split()
        for t in traits:
            if head == "Rc" and t == "Send": continue
            where = []
            for p in ps:
                where += [f"{p}:{n}" for n in needs[t]]
            if head == "Map" and t in ("Debug", "Clone", "Serialize"): where += ["K:Ord"]
            f.write(f"impl {t} for {head}<{','.join(ps)}> where {' '.join(where)}\n")
    def ty(d):
        if d == 0 or random.random() < 0.02: return random.choice(prims[:5] * 30 + prims)
        h = random.choice(["Vec", "Vec", "Option", "Option", "Box", "Map", "Result", "Pair", "Rc"] if d < 9 else ["Vec", "Option", "Box"])
        if h in ("Map", "Result", "Pair"): return f"{h}<{ty(random.randrange(0, 3))},{ty(d - 1)}>"
        return f"{h}<{ty(d - 1)}>"
    known = [ty(random.choice((4, 8, 12, 16, 20, 24))) for _ in range(420)]
    for n in range(90):
        f.write(f"file src/m{n}.rs\n")
        line = 1
        for i in range(55):
            line += random.randrange(1, 9)
            f.write(f"need {line} {random.choice(known)}:{random.choice(traits)}\n")
