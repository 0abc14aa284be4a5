import random
random.seed(1121)
ids = ["%s_%s%d" % (random.choice("get set ctx buf list node tree sock dev hash str".split()), random.choice("init free next read put find len cmp".split()), i) for i in range(700)]
ty = "int char long void size_t uint32_t struct".split()
def func():
    r = "static %s %s(%s a, %s *b)\n{\n" % (random.choice(ty), random.choice(ids), random.choice(ty), random.choice(ty))
    for _ in range(random.randint(5, 25)):
        r += "    if (%s(a, %d) %s %s->%s) { %s = %s + %d; }\n" % (random.choice(ids), random.randint(0, 99), random.choice(["<", "==", "!="]), random.choice(ids), random.choice(ids), random.choice(ids), random.choice(ids), random.randint(0, 9999))
        if random.random() < .1:
            r += "    /* %s needs %s here */\n" % (random.choice(ids), random.choice(ids))
    return r + "}\n\n"
with open("units.list", "w") as f:
    for _ in range(900):
        f.write("extern %s %s(%s, %s *);\n" % (random.choice(ty), random.choice(ids), random.choice(ty), random.choice(ty)))
    for i in range(46):
        f.write("@file unit%02d.c\n" % i)
        for _ in range(random.randint(60, 170)):
            f.write(func())
        if i % 15 == 9:
            f.write("}\n")
    f.write("@file end\n")
