import random, os
random.seed(2)
os.makedirs("data", exist_ok=True)
def varlen(n):
    o = bytearray()
    while True:
        b = n & 127; n >>= 7
        o.append(b | (128 if n else 0))
        if not n: return bytes(o)
with open("data/capture.bin", "wb") as f:
    for i in range(74000):
        if i % 50 == 0:
            f.write(b"\xc0\x00"); continue
        t = f"plant/{random.randrange(8)}/sensor/{random.randrange(12)}".encode()
        p = random.randbytes(random.randrange(8, 48))
        body = len(t).to_bytes(2, "big") + t + p
        f.write(b"\x30" + varlen(len(body)) + body)
