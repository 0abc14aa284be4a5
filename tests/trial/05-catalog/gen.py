import random, os
random.seed(5)
os.makedirs("data", exist_ok=True)
with open("data/catalog.json", "w") as f:
    f.write("[\n")
    f.write(",\n".join('  {"key": "WP_%s_t%d_v%d", "price": %d, "weight": %.3f}' % (random.choice(["CHR","CLO","VEH","WPN"]), i, random.randrange(9), random.randrange(20, 200000), random.random()*50) for i in range(52000)))
    f.write("\n]\n")
