import hashlib, os, random, zlib
random.seed(1537564)
words = [("%x" % random.getrandbits(40)) for _ in range(3000)]
with open("update.tx", "wb") as f:
    for i in range(300):
        f.write(b"package pkg%03d 1.%d-%d\n" % (i, i % 17, i % 5))
        for k in range(random.randint(2, 4)):
            data = " ".join(random.choice(words) for _ in range(random.randint(1000, 7000))).encode()
            os.makedirs("root/pkg%03d" % i, exist_ok=True)
            with open("root/pkg%03d/f%d.dat" % (i, k), "wb") as out:
                out.write(data)
            z = zlib.compress(data, 9)
            f.write(b"file f%d.dat %s %d %d\n" % (k, hashlib.sha256(data).hexdigest().encode(), len(data), len(z)))
            f.write(z + b"\n")
        s = b"n=0\nfor f in \"$PKG_DIR\"/*; do n=$((n+1)); done\necho \"  $PKG_NAME: configured $n files\"\n"
        if i % 61 == 60:
            s += b"exit 3\n"
        if i % 8:
            f.write(b"post %d\n%s\n" % (len(s), s))
        f.write(b"end\n")
