import base64, os, random
random.seed(104)
os.makedirs("data", exist_ok=True)
words = "road river forest lake rail park building coast border bridge path quarry".split()
for p in range(4):
    with open(f"data/sheet{p}.xml", "w") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?>\n<project name="sheet %d" scale="1:25000">\n' % p)
        f.write(' <background><image x="0" y="0" width="512" height="512" href="data:image/raw;base64,')
        row = bytes(random.randrange(256) for _ in range(4096))
        raw = b"".join(bytes([(b + i) & 255 for b in row]) for i in range(600))
        f.write(base64.b64encode(raw).decode())
        f.write('"/></background>\n')
        for l in range(12):
            f.write(f' <layer id="l{l}" name="{random.choice(words)}">\n')
            for o in range(600):
                f.write(f'  <path id="p{l}-{o}" class="{random.choice(words)}" d="' + " ".join(f"{random.randrange(512)},{random.randrange(512)}" for _ in range(random.randrange(2, 12))) + '"/>\n')
            f.write(f'  <note>Surveyed in {random.randrange(1960, 2020)}, checked &amp; drawn</note>\n </layer>\n')
        f.write('</project>\n')
