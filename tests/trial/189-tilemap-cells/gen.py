import math
W, H = 60, 2300
def n(x, y, s, a, b):
    return math.sin(x / s + a) * math.cos(y / (s * 1.3) + b) + 0.5 * math.sin((x + 2 * y) / (s * 0.7) + a * b)
st = 61934
def rnd():
    global st
    st = (st * 1103515245 + 12345) & 0x7fffffff
    return st >> 8
with open("world.map", "w") as f:
    rows = []
    for y in range(-H // 2, H // 2):
        r = []
        for x in range(-W // 2, W // 2):
            v = n(x, y, 23, 1, 2) + n(x, y, 9, 3, 0.4) * 0.4 + rnd() % 100 / 400
            r.append("w" if v < -1.0 else "s" if v < -0.85 else "g" if v < 0.5 else "f" if v < 1.25 else "r")
        rows.append("".join(r))
    for i, r in enumerate(rows):
        for k in range(0, W, 60):
            f.write("%d %d %s\n" % (k - W // 2, i - H // 2, r[k:k + 60]))
    towns = 0
    while towns < 7:
        x, y = rnd() % W, rnd() % H
        if rows[y][x] in "gs":
            f.write("town %d %d\n" % (x - W // 2, y - H // 2))
            towns += 1
