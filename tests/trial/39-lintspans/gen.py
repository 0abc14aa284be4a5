import random, os
random.seed(39)
os.makedirs("data", exist_ok=True)
n = "count total index buffer node value handler connection_pool request_dispatcher previous_generation tmp i j".split()
with open("data/module.src", "w") as f:
    for fn in range(1150):
        f.write(f"int func_{fn}(int a, int b) {{\n")
        for l in range(random.randrange(6, 18)):
            r = random.random()
            if r < .06: f.write("    // TODO handle the remaining case\n")
            elif r < .12: f.write('    log("value is %d", ' + random.choice(n) + ");\n")
            else: f.write(f"    {random.choice(n)} = {random.choice(n)} {random.choice('+-*')} {random.choice([2, 17, 1024, '0755', 86400, 3])};\n")
        f.write("    return a;\n}\n\n")
