import os, random
random.seed(135)
root = "data/mod/src/services/platform"
w = "auth cache store queue index route proxy trace limit batch token sched".split()
pk = []
for i in range(150):
    d = f"{root}/{random.choice(w)}/{random.choice(w)}/internal/{random.choice(w)}{i}"
    os.makedirs(d, exist_ok=True)
    pk.append(d)
for d in pk:
    name = os.path.basename(d)
    for k in range(8):
        with open(f"{d}/{random.choice(w)}{k}.go", "w") as f:
            f.write(f"package {name}\n\nimport (\n")
            for o in random.sample(pk, 8): f.write(f'\t"{o[len("data/mod/src/"):]}"\n')
            f.write(")\n\n")
            for n in range(30):
                f.write(f"func Do{k}x{n}(a int, b_c string) (int, error) {{\n\tif a > {n} {{\n\t\treturn a * {n}, nil\n\t}}\n"
                        f"\tfor i := 0; i < a; i++ {{\n\t\ta += i * {random.randrange(90)}\n\t}}\n\treturn a, nil\n}}\n\n")
os.symlink("services/platform", "data/mod/src/platform")
