import os, random
random.seed(224)
os.makedirs("data", exist_ok=True)
def expr(depth, names):
    if depth == 0 or random.random() < 0.15:
        return random.choice(names + [str(random.randrange(1, 60))])
    return f"({expr(depth - 1, names)} {random.choice(['+', '-', '*', '+', '-'])} {expr(depth - 1, names)})"
with open("data/rules.txt", "w") as f:
    for r in range(700):
        f.write(f"rule tariff_{r}(weight, distance) {{\n  let base = {expr(3, ['weight', 'distance'])} % 9973;\n")
        f.write(f"  let i = 0;\n  while i < {random.randrange(8, 24)} {{\n    base = (base * {random.randrange(3, 40)} + {expr(2, ['weight', 'i', 'base'])}) % 9973;\n")
        f.write(f"    if base > {random.randrange(3000, 7000)} and i != 3 {{ base = base - {expr(1, ['distance', 'i'])}; }} else {{ base = base + max(i, {random.randrange(9)}); }}\n    i = i + 1;\n  }}\n")
        if r:
            f.write(f"  if base % 5 == 0 {{ return base + helper(base, {random.randrange(2, 30)}); }}\n")
        f.write("  return base;\n}\n")
    f.write("rule helper(n, k) {\n  if n < k { return n; }\n  return (helper(n / k, k) + n % k) % 9973;\n}\n")
