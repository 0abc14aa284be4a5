import os, random
random.seed(116)
os.makedirs("data/sys", exist_ok=True)
kinds = "net scsi gpu usb input sound hid mmc ata crypto".split()
mods = [f"{random.choice(kinds)}_{random.choice(['core', 'pci', 'bus', 'phy', 'hub', 'ctl'])}_{i}" for i in range(9000)]
with open("data/modules.dep", "w") as f:
    for i, m in enumerate(mods):
        deps = sorted({random.randrange(max(0, i - 400), i) for _ in range(random.randrange(4))}) if i else []
        f.write(f"kernel/{m.split('_')[0]}/{m}.ko: " + " ".join(mods[d] for d in deps) + "\n")
with open("data/modules.alias", "w") as f:
    for i in range(14000):
        f.write(f"alias pci:v{random.randrange(65536):04x}d{i:05d} {random.choice(mods)}\n")
alias = [l.split()[1] for l in open("data/modules.alias")]
for i, a in enumerate(random.sample(alias, 330)):
    os.makedirs(f"data/sys/dev{i:03d}", exist_ok=True)
    open(f"data/sys/dev{i:03d}/modalias", "w").write(a + "\n")
