import random, os
random.seed(71)
os.makedirs("data/tree", exist_ok=True)
with open("data/attributes", "w") as f:
    f.write("# pattern filter\n*.c ident\n*.h ident\n*.txt ident crlf\n*.md crlf\n*.bin none\n")
words = "the tree is read from a list of files and each file goes through the filter that its name asks for $Id$ return int static void const".split()
with open("data/index", "w") as f:
    for i in range(1700):
        ext = random.choice(["c", "c", "h", "txt", "md", "bin"])
        name = f"{random.choice(['src', 'lib', 'doc', 'test'])}_{i}.{ext}"
        text = ["/* $Id$ */\n"] + [" ".join(random.choice(words) for _ in range(random.randrange(2, 14))) + "\n" for _ in range(random.randrange(5, 60))]
        with open("data/tree/" + name, "w") as g: g.writelines(text)
        f.write(f"{name} {random.getrandbits(64):016x}\n")
