import os, random
random.seed(129)
os.makedirs("data", exist_ok=True)
with open("data/song.txt", "w") as f:
    f.write("length 48\n")
    for name, level, room, wet, spans in [("lead", .8, .72, .3, [(0, 40)]), ("pad", .5, .80, .5, [(6, 48)]), ("bass", .9, .62, .15, [(0, 20), (26, 48)]),
                                          ("keys", .6, .74, .3, [(4, 39)]), ("bells", .4, .80, .6, [(0, 22), (33, 48)]), ("choir", .5, .78, .5, [(8, 44)]),
                                          ("strings", .5, .78, .4, [(0, 37)]), ("drums", .9, .60, .1, [(0, 48)])]:
        f.write(f"track {name} {level} {room} {wet}\n")
        for a, b in spans:
            t = a
            while t < b:
                f.write(f"note {t:.3f} {random.uniform(.1, .5):.3f} {110 * 2 ** (random.randrange(36) / 12):.2f} {random.uniform(.3, .9):.2f}\n")
                t += random.uniform(.08, .4)
