import os
os.makedirs("data", exist_ok=True)
with open("data/jobs.txt", "w") as f:
    f.write("# name width height seed sigma amount gamma\n")
    for i, (w, h) in enumerate([(1024, 22000)]):
        f.write(f"STRIP_{4100 + i} {w} {h} {1000 + i} {20 + 3 * i} 0.{4 + i} 2.{2 + i}\n")
