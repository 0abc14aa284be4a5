import os, random
random.seed(236)
os.makedirs("data/src", exist_ok=True)
UNITS = 26
for u in range(UNITS):
    out = ["#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"]
    out.append(f"struct rec{u} {{ int32_t key; double w[4]; struct rec{u} *next; }};\n")
    names = []
    for f in range(26):
        n = f"unit{u}_step{f}"; names.append(n)
        a, b, c = random.randrange(3, 90), random.randrange(3, 90), random.randrange(1, 9)
        out.append(f"""static int64_t {n}(struct rec{u} *r, size_t n, int64_t seed)
{{
    int64_t acc = seed;
    for (size_t i = 0; i < n; i++) {{
        struct rec{u} *p = &r[i];
        switch ((p->key ^ acc) & 7) {{
        case 0: p->w[0] += {a}.5 * p->w[1]; acc += p->key * {b}; break;
        case 1: p->w[1] -= p->w[2] / {b}.25; acc ^= p->key << {c}; break;
        case 2: for (int k = 0; k < 4; k++) p->w[k] = p->w[k] * 0.5 + k; break;
        case 3: if (p->next) acc += p->next->key - {a}; break;
        case 4: acc = acc * {a} + (int64_t)p->w[3]; break;
        case 5: memmove(p->w, p->w + 1, 3 * sizeof p->w[0]); p->w[3] = {c}; break;
        default: acc += {c}; p->key += (int32_t)(acc % {b});
        }}
    }}
    return acc;
}}
""")
    out.append(f"int64_t unit{u}_run(int64_t seed)\n{{\n    static struct rec{u} r[64];\n    for (int i = 0; i < 64; i++) {{ r[i].key = i * {random.randrange(3, 99)}; r[i].next = &r[(i * 7 + 1) % 64]; for (int k = 0; k < 4; k++) r[i].w[k] = i % 5 + k; }}\n")
    out += [f"    seed = {n}(r, 64, seed);\n" for n in names]
    out.append("    return seed;\n}\n")
    open(f"data/src/unit{u:02d}.c", "w").write("".join(out))
with open("data/src/main.c", "w") as f:
    f.write("#include <stdint.h>\n#include <stdio.h>\n" + "".join(f"int64_t unit{u}_run(int64_t);\n" for u in range(UNITS)))
    f.write("int main(void)\n{\n    int64_t s = 1;\n" + "".join(f"    s = unit{u}_run(s) % 1000003;\n" for u in range(UNITS)) + '    printf("%lld\\n", (long long)s);\n    return 0;\n}\n')
