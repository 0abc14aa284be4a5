import random, os
random.seed(6)
os.makedirs("data", exist_ok=True)
with open("data/match.txt", "w") as f:
    for i in range(45):
        f.write(f"tower {random.randrange(40,480)} {random.randrange(300)} {random.randrange(15,40)} {random.randrange(4,12)} {random.randrange(0,3)}\n")
    for k in ["goblin-skirmisher-light", "orc-heavy-infantryman", "wolf", "siege-ram-with-escort"]:
        f.write(f"unit {k} player-two-of-the-north {random.randrange(60,200)} {random.random()*2+0.7:.2f} slowed-by-frost burning-with-oil\n")
