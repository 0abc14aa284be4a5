import os, random
random.seed(105)
os.makedirs("data", exist_ok=True)
names = "libfoo tzdata shadow fonts kernel-headers grub cups avahi dbus nginx man-db perl ruby sqlite gtk vim emacs".split()
kinds = ["pre", "post", "preun", "postun", "trigger"]
with open("data/transaction.txt", "w") as f:
    for i in range(560):
        n = f"{random.choice(names)}-{random.randrange(90)}"
        f.write(f"package {n} {random.randrange(1, 9)}.{random.randrange(40)} {random.randrange(2000, 900000)}\n")
        for k in random.sample(kinds, random.choice([1, 2, 2, 3])):
            f.write(f"scriptlet {k} {random.choice(['ldconfig', 'cache', 'user', 'service'])} {random.randrange(1000)}\n")
        for d in range(random.randrange(4)):
            f.write(f"requires {random.choice(names)}\n")
